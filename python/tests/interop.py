# SPDX-License-Identifier: Apache-2.0
"""Exchange of CPU arrays with torch and JAX; prints a line per library. Run it where they are installed; the tests do not need them.

    python python/tests/interop.py
"""
import importlib
import importlib.util

import numpy as np

import pybraintrace as bt
from pybraintrace import numpy as jnp

KINDS = ("float32", "float16", "bfloat16", "int32", "bool")


def fails(f, *errors):
    try:
        f()
    except errors:
        return True
    return False


def torch_arrays():
    torch = importlib.import_module("torch")
    x = jnp.arange(4) * 1.0
    theirs = torch.from_dlpack(x)
    theirs[0] = 99
    assert x.tolist() == [0, 1, 2, 3]  # torch ignores the read-only flag, so it gets a copy
    assert torch.from_dlpack(x, copy=False).data_ptr() == np.asarray(x).ctypes.data
    a = torch.arange(6.0).reshape(2, 3)
    assert np.asarray(jnp.asarray(a)).ctypes.data == a.data_ptr() and jnp.asarray(a.T).tolist() == a.T.tolist() and jnp.asarray(a[:1].expand(3, 3)).tolist() == a[:1].expand(3, 3).tolist()
    for kind in KINDS:
        there = torch.ones(3).to(getattr(torch, kind))
        assert str(jnp.asarray(there).dtype) == kind and torch.from_dlpack(jnp.ones(3, kind)).dtype == there.dtype
    assert jnp.asarray(torch.ones(3, requires_grad=True) * 2).tolist() == [2, 2, 2] and (jnp.ones(3) + torch.ones(3)).tolist() == [2, 2, 2]
    for bad in (torch.eye(3).to_sparse(), torch.empty(3, device="meta"), torch.ones(3).to(torch.complex64)):
        assert fails(lambda bad=bad: jnp.asarray(bad), ValueError, TypeError, BufferError)
    state = bt.ShortTermState(a)
    a[:] = 7
    assert state.value.tolist() == [[0, 1, 2], [3, 4, 5]]
    batches = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.arange(4.0)), batch_size=2, num_workers=2)
    assert [bt.jit(lambda v: v * 2)(b[0]).tolist() for b in batches] == [[0, 2], [4, 6]]


def jax_arrays():
    jax = importlib.import_module("jax")
    there = jax.numpy
    x = jnp.arange(4) * 1.0
    assert there.from_dlpack(x).tolist() == there.asarray(x).tolist() == [0, 1, 2, 3]
    a = there.arange(6.0).reshape(2, 3)
    assert np.asarray(jnp.asarray(a)).ctypes.data == a.unsafe_buffer_pointer() and jnp.asarray(a.T).tolist() == a.T.tolist()
    for kind in KINDS:
        assert str(jnp.asarray(there.ones(3, kind)).dtype) == kind and there.from_dlpack(jnp.ones(3, kind)).dtype == there.ones(3, kind).dtype
    assert (jnp.ones(3) + there.ones(3)).tolist() == [2, 2, 2] and bt.jit(lambda v: v + 1)(a).shape == (2, 3)
    assert fails(lambda: jax.jit(lambda v: jnp.asarray(v))(a), TypeError) and fails(lambda: jnp.asarray(there.ones(3, "complex64")), TypeError)


for library, check in {"torch": torch_arrays, "jax": jax_arrays}.items():
    if importlib.util.find_spec(library) is None:
        print(f"{library}: not installed")
        continue
    check()
    print(f"{library} {importlib.import_module(library).__version__}: both ways")
