# SPDX-License-Identifier: Apache-2.0
"""Run a script for the JAX package unchanged: python -m pybraintrace.compat SCRIPT [ARGUMENT…]."""

import runpy
import sys

from . import install

if len(sys.argv) < 2:
    sys.exit(__doc__)
install()
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
