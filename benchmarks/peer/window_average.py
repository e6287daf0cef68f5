# SPDX-License-Identifier: Apache-2.0
"""How many steps pp_prop takes an average over, in windows of one step: for each window the n of its factor 1/(1-αⁿ), as JSON on stdout.

    window_average.py                here through `python -m pybraintrace.compat window_average.py`

One linear state, h_t = d h_{t-1} + W x_t, and the loss Σ h_t. The gradient of window t is x_t plus what the traces of the t-1 steps before bring:

    d ε^x_{t-1} ε^f_{t-1} / (1-αⁿ)      ε^x_t = α ε^x_{t-1} + x_t      ε^f_t = α d ε^f_{t-1} + (1-α)
"""
import json
import math
import warnings

import brainstate
import braintrace
import jax.numpy as jnp
import numpy as np

DECAY, D, WINDOWS = 0.8, 0.5, 8


class Leaky(brainstate.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = braintrace.nn.Linear(1, 1, b_init=None)

    def init_state(self, *_, **__):
        self.h = brainstate.HiddenState(jnp.zeros(1))

    def update(self, x):
        self.h.value = D * self.h.value + self.w(x)
        return self.h.value


def lengths():
    model = Leaky()
    brainstate.nn.init_all_states(model)
    learner = braintrace.pp_prop(model, DECAY, vjp_method="multi-step")
    learner.compile_graph(jnp.ones(1))
    weights = model.states(brainstate.ParamState)
    trace_x = trace_f = 0.0
    for t in range(WINDOWS):
        x = 1.0 + t
        (gradient,) = brainstate.transform.grad(lambda: learner(braintrace.MultiStepData(jnp.full((1, 1), x))).sum(), weights)().values()  # noqa: B023
        carried = float(np.asarray(gradient["weight"]).item()) - x
        if t:
            yield round(math.log(1 - D * trace_x * trace_f / carried) / math.log(DECAY), 3)
        trace_x, trace_f = DECAY * trace_x + x, DECAY * D * trace_f + (1 - DECAY)


warnings.simplefilter("ignore")
brainstate.environ.set(dt=1.0)
print(json.dumps(list(lengths())))
