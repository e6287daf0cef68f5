# SPDX-License-Identifier: Apache-2.0
"""The names that models for the JAX package use, on this package: change the imports, keep the model.

>>> from pybraintrace.compat import braintrace, brainstate, braintools, jax, jnp
>>> gru = braintrace.nn.GRUCell(3, 4)
>>> _ = brainstate.nn.init_all_states(gru)
>>> graph = braintrace.compile_etrace_graph(gru, brainstate.random.randn(3))
>>> isinstance(graph, braintrace.ETraceGraph)
True
"""

from .. import numpy as jnp
from . import brainpy, brainstate, braintools, braintrace, jax

__all__ = ["brainpy", "brainstate", "braintools", "braintrace", "jax", "jnp"]
