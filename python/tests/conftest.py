# SPDX-License-Identifier: Apache-2.0
import gc

import pytest

import pybraintrace as bt


@pytest.fixture(autouse=True)
def fresh_environment():
    bt.random.seed(0)
    bt.environ.set(precision=32)
    yield
    bt.environ.set(precision=32)
    gc.collect()
