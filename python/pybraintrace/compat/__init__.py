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


def install() -> None:
    """Makes `import braintrace`, `import brainstate`, `import jax` and the others mean these modules, in this process."""
    import sys

    names = {"brainpy": brainpy, "brainstate": brainstate, "braintools": braintools, "braintrace": braintrace, "jax": jax, "jax.numpy": jnp,
             "jax.nn": jax.nn, "jax.random": jax.random, "jax.lax": jax.lax, "jax.tree_util": jax.tree_util, "brainpy.state": brainpy.state,
             "brainstate.nn": brainstate.nn, "brainstate.transform": brainstate.transform, "brainstate.random": brainstate.random,
             "brainstate.environ": brainstate.environ, "braintrace.nn": braintrace.nn, "braintools.optim": braintools.optim,
             "braintools.init": braintools.init, "braintools.metric": braintools.metric, "braintools.surrogate": braintools.surrogate}
    sys.modules.update(names)  # type: ignore[arg-type]
