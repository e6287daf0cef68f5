# SPDX-License-Identifier: Apache-2.0
"""The names of the JAX package for models written for it: change the imports, keep the model.

>>> from pybraintrace.compat import braintrace, brainstate, braintools, jax, jnp
>>> gru = braintrace.nn.GRUCell(3, 4)
>>> _ = brainstate.nn.init_all_states(gru)
>>> graph = braintrace.compile_etrace_graph(gru, brainstate.random.randn(3))
>>> isinstance(graph, braintrace.ETraceGraph)
True
"""

import functools
from typing import Any

from .. import numpy as jnp
from . import brainpy, brainstate, braintools, braintrace, jax

__all__ = ["brainpy", "brainstate", "braintools", "braintrace", "jax", "jnp"]


def _take_tensors(units_math: Any) -> None:
    """Let `asarray` of the units package return tensors unchanged, because traced tensors have no elements to read."""
    elements_of = units_math.asarray

    @functools.wraps(elements_of)
    def asarray(a: Any, *args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        return jnp.asarray(a, dtype) if isinstance(a, jax.Array) else elements_of(a, *args, dtype=dtype, **kwargs)

    units_math.asarray = asarray


def install() -> None:
    """Make `import braintrace`, `import brainstate`, `import jax` and the others import these modules in this process."""
    import importlib.util
    import sys

    if importlib.util.find_spec("saiunit"):  # also known as brainunit; on import it looks for the real JAX
        import saiunit

        saiunit.set_default_backend("numpy")
        sys.modules["brainunit"] = saiunit
        _take_tensors(saiunit.math)
    names = {"brainpy": brainpy, "brainstate": brainstate, "braintools": braintools, "braintrace": braintrace, "jax": jax, "jax.numpy": jnp,
             "jax.nn": jax.nn, "jax.random": jax.random, "jax.lax": jax.lax, "jax.tree": jax.tree, "jax.tree_util": jax.tree_util, "brainpy.state": brainpy.state,
             "brainstate.nn": brainstate.nn, "brainstate.transform": brainstate.transform, "brainstate.random": brainstate.random,
             "brainstate.environ": brainstate.environ, "brainstate.util": brainstate.util, "brainstate.typing": brainstate.typing,
             "jax.numpy.linalg": jnp.linalg, "braintools.visualize": braintools.visualize, "braintrace.nn": braintrace.nn, "braintools.optim": braintools.optim,
             "braintools.init": braintools.init, "braintools.metric": braintools.metric, "braintools.surrogate": braintools.surrogate}
    sys.modules.update(names)  # type: ignore[arg-type]
