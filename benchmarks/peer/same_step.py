# SPDX-License-Identifier: Apache-2.0
"""One step of D_RTRL from reset, where its gradient is that of reverse mode: the ratio of the two, weight by weight, as JSON on stdout.

    same_step.py                     here through `python -m pybraintrace.compat same_step.py`

In each network one hidden state reaches another in the same step: c the output h of an LSTM, a synaptic conductance the potential.
"""
import json
import warnings

import brainpy
import brainstate
import braintools
import braintrace
import jax.numpy as jnp
import numpy as np


class Synapse(brainstate.nn.Module):
    def __init__(self):
        super().__init__()
        zero = braintools.init.ZeroInit()
        self.neuron = brainpy.state.LIF(4, R=1.0, tau=20.0, V_th=100.0, V_reset=0.0, V_rest=0.0, V_initializer=zero)
        self.project = brainpy.state.AlignPostProj(comm=braintrace.nn.Linear(3, 4, b_init=None), syn=brainpy.state.Expon(4, tau=10.0, g_initializer=zero),
                                                   out=brainpy.state.CUBA(scale=1.0), post=self.neuron)

    def update(self, x):
        self.project(x)
        self.neuron(0.0)
        return self.neuron.V.value


def ratios(model):
    x, weights = jnp.asarray(np.random.default_rng(0).normal(size=3).astype("f")), model.states(brainstate.ParamState)

    def gradient(step):
        return brainstate.transform.grad(lambda: (step(x) ** 2).sum(), weights)()

    brainstate.nn.init_all_states(model)
    exact = gradient(model)
    brainstate.nn.init_all_states(model)
    learner = braintrace.D_RTRL(model)
    learner.compile_graph(x)
    online = gradient(learner)
    norm = lambda g: float(np.linalg.norm(np.asarray(g["weight"] if isinstance(g, dict) else g)))  # noqa: E731
    return {".".join(map(str, path)): round(norm(online[path]) / norm(exact[path]), 4) for path in sorted(weights) if norm(exact[path])}


warnings.simplefilter("ignore")
brainstate.environ.set(dt=1.0)
brainstate.random.seed(0)
print(json.dumps({"LSTM": ratios(braintrace.nn.LSTMCell(3, 4)), "LIF with a synapse": ratios(Synapse())}))
