#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/weights with the Python package: parameters in msgpack, and what the network answers.

    python3 -m venv v && v/bin/pip install braintrace==0.2.6 braintools==0.3.0 brainstate==0.5.4 jax
    JAX_PLATFORMS=cpu v/bin/python tests/zoo/make_weights.py tests/data/weights
"""
import os
import sys

import brainstate
import braintools
import braintrace
import numpy as np


class Net(brainstate.nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = braintrace.nn.GRUCell(3, 4)
        self.out = braintrace.nn.Linear(4, 2)

    def update(self, x):
        return self.out(self.rnn(x))


brainstate.random.seed(3)
net = Net()
brainstate.nn.init_all_states(net)
braintools.file.msgpack_save(os.path.join(sys.argv[1], 'gru.msgpack'), net.states(brainstate.ParamState))
x = np.random.default_rng(1).normal(size=(10, 3)).astype('f4')
np.savez(os.path.join(sys.argv[1], 'gru.npz'), x=x, y=np.array([net(row) for row in x]))
