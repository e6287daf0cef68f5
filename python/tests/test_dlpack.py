# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries through DLPack, with hand-made capsules. interop.py checks torch and JAX where they are installed."""
import ctypes
import time

import ml_dtypes
import numpy as np
import pytest

import pybraintrace as bt
from pybraintrace import numpy as jnp


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class ManagedVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", DELETER), ("flags", ctypes.c_uint64), ("tensor", DLTensor)]


READ_ONLY, IS_COPIED = 1, 2
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
pointer_in.restype, pointer_in.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


class Producer:
    """An array of another library: memory, strides, and a function that frees it. With a version it speaks DLPack 1.0."""

    def __init__(self, values, shape, strides, versioned=False, flags=0, device=1, code=2, kind=np.float32):
        self.memory = np.array(values, kind)
        self.shape, self.strides = (ctypes.c_int64 * len(shape))(*shape), (ctypes.c_int64 * len(strides))(*strides)
        self.freed, self.deleter, self.versioned, self.device = 0, DELETER(self.free), versioned, device
        tensor = DLTensor(self.memory.ctypes.data, device, 0, len(shape), code, 8 * self.memory.itemsize, 1, self.shape, self.strides, 0)
        self.managed = ManagedVersioned(1, 0, None, self.deleter, flags, tensor) if versioned else Managed(tensor, None, self.deleter)

    def free(self, _):
        self.freed += 1

    def __dlpack_device__(self):
        return (self.device, 0)

    def __dlpack__(self, **kwargs):
        if not self.versioned and kwargs:
            raise TypeError("an old library knows no keywords")
        return new_capsule(ctypes.addressof(self.managed), b"dltensor_versioned" if self.versioned else b"dltensor", None)

    def is_freed(self, times):
        for _ in range(100):  # references are dropped at the next safe point
            if self.freed == times:
                return True
            time.sleep(0.001)
        return False


@pytest.mark.parametrize("versioned, flags", [(False, 0), (True, 0), (True, READ_ONLY), (True, IS_COPIED)])
def test_arrays_of_another_library_are_shared(versioned, flags):
    producer = Producer([0, 1, 2, 3, 4, 5], (2, 3), (3, 1), versioned, flags)
    tensor = jnp.asarray(producer)
    assert tensor.tolist() == [[0, 1, 2], [3, 4, 5]] and producer.freed == 0
    producer.memory[0] = 7
    assert float(tensor[0, 0]) == 7  # no copy
    doubled = bt.jit(lambda x: x * 2)(producer)
    producer.memory[0] = 0
    assert doubled.tolist() == [[14, 2, 4], [6, 8, 10]]
    del tensor
    assert producer.is_freed(2)


@pytest.mark.parametrize("versioned", [False, True])
def test_strides(versioned):
    six = [0, 1, 2, 3, 4, 5]
    assert jnp.asarray(Producer(six, (3, 2), (1, 3), versioned)).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert jnp.asarray(Producer(six, (2, 3), (0, 1), versioned)).tolist() == [[0, 1, 2], [0, 1, 2]]
    assert jnp.asarray(Producer(six, (), (), versioned)).shape == () and jnp.asarray(Producer(six, (0, 3), (3, 1), versioned)).shape == (0, 3)


@pytest.mark.parametrize("kind, code, expected", [("float16", 2, "float16"), ("float64", 2, "float32"), ("int8", 0, "int32"), ("int64", 0, "int32"), ("uint8", 1, "int32"), ("bool", 6, "bool")])
def test_element_types(kind, code, expected):
    tensor = jnp.asarray(Producer([0, 1, 1], (3,), (1,), True, kind=kind, code=code))
    assert str(tensor.dtype) == expected and tensor.tolist() == [0, 1, 1]


@pytest.mark.parametrize("shape, strides, expected", [((2, 2), (2, 1), [[1, 2], [3, 4]]), ((2, 2), (1, 2), [[1, 3], [2, 4]])])
def test_bfloat16_which_numpy_does_not_know(shape, strides, expected):
    producer = Producer([1, 2, 3, 4], shape, strides, kind=ml_dtypes.bfloat16, code=4)
    tensor = jnp.asarray(producer)
    assert tensor.dtype == ml_dtypes.bfloat16 and tensor.tolist() == expected
    del tensor
    assert producer.is_freed(1)
    back = ManagedVersioned.from_address(pointer_in(jnp.ones(3, "bfloat16").__dlpack__(max_version=(1, 0)), b"dltensor_versioned"))
    assert (back.tensor.code, back.tensor.bits) == (4, 16)


@pytest.mark.parametrize("device, name", [(2, "CUDA"), (8, "Metal"), (10, "ROCm"), (13, "managed CUDA"), (99, "DLPack kind 99")])
def test_devices_that_this_machine_cannot_read(device, name):
    for use in (jnp.asarray, lambda x: jnp.ones(3) + x, bt.jit(lambda x: x), bt.ParamState, bt.nn.init_all_states(bt.nn.GRUCell(3, 2))):
        with pytest.raises(ValueError, match=rf"Producer .*\({name}\); bring it to the CPU"):
            use(Producer([1, 1, 1], (3,), (1,), device=device))


def test_a_device_told_in_another_way():
    class Numba:
        __cuda_array_interface__ = {"shape": (3,), "typestr": "<f4", "data": (0, False), "version": 3}

    for use in (jnp.asarray, lambda x: jnp.ones(3) + x, bt.jit(lambda x: x)):
        with pytest.raises(ValueError, match=r"\(CUDA\)"):
            use(Numba())


def test_arrays_without_elements():
    class Traced:  # as JAX gives a value inside its own jit
        def __dlpack__(self): raise AttributeError

    with pytest.raises(TypeError, match="Traced has no elements"):
        jnp.asarray(Traced())

    class Refuses(Producer):  # as torch does for sparse tensors
        def __dlpack__(self, **kwargs): raise BufferError("only strided")

    with pytest.raises(BufferError, match="only strided"):
        jnp.asarray(Refuses([1], (1,), (1,)))


def test_whoever_takes_a_tensor_cannot_change_it():
    tensor = jnp.arange(4) * 1.0
    taken = np.from_dlpack(tensor)
    if taken.flags.writeable:  # a copy
        taken[:] = 9
    np.from_dlpack(tensor, copy=True)[:] = 9
    assert tensor.tolist() == [0, 1, 2, 3] and tensor.__dlpack_device__() == (1, 0)
    shared = np.from_dlpack(tensor, copy=False)
    assert np.shares_memory(shared, np.asarray(tensor)) and not shared.flags.writeable


def test_capsules_say_their_version_and_what_may_be_written():
    tensor = jnp.arange(6).reshape(2, 3)
    capsule = tensor.__dlpack__(max_version=(1, 1), copy=False)
    shared = ManagedVersioned.from_address(pointer_in(capsule, b"dltensor_versioned"))
    assert shared.major == 1 and shared.flags & READ_ONLY and list(shared.tensor.shape[:2]) == [2, 3] and shared.tensor.data == np.asarray(tensor).ctypes.data
    capsule = tensor.__dlpack__(max_version=(1, 0))
    copied = ManagedVersioned.from_address(pointer_in(capsule, b"dltensor_versioned"))
    assert not copied.flags & READ_ONLY and copied.tensor.data != np.asarray(tensor).ctypes.data
    for old in (tensor.__dlpack__(), tensor.__dlpack__(max_version=(0, 8)), tensor.__dlpack__(copy=True)):
        assert Managed.from_address(pointer_in(old, b"dltensor")).tensor.data != np.asarray(tensor).ctypes.data


def test_what_cannot_be_given():
    for wish in ({"dl_device": (2, 0)}, {"copy": False}, {"copy": False, "max_version": (0, 8)}, {"stream": 1}):
        with pytest.raises(BufferError):
            jnp.ones(3).__dlpack__(**wish)
    with pytest.raises(ValueError, match="traced"):
        bt.jit(lambda x: x.__dlpack__())(1.0)


class Consumer:
    """Another library that takes a tensor, as CuPy's or torch's from_dlpack does: asks for a device, a version and a copy, reads, then frees."""

    KINDS = {(2, 16): "f2", (2, 32): "f4", (2, 64): "f8", (4, 16): ml_dtypes.bfloat16, (0, 32): "i4", (0, 64): "i8", (1, 32): "u4", (6, 8): "bool"}

    def __init__(self, source, version, copy):
        assert source.__dlpack_device__() == (1, 0)
        capsule = source.__dlpack__(max_version=version, copy=copy) if version else source.__dlpack__()
        kind, name = (ManagedVersioned, b"dltensor_versioned") if version and version[0] >= 1 else (Managed, b"dltensor")
        managed = kind.from_address(pointer_in(capsule, name))
        t = managed.tensor
        self.shape, self.read_only, self.address = tuple(t.shape[:t.ndim]), bool(getattr(managed, "flags", 0) & READ_ONLY), t.data
        strides = tuple(t.strides[:t.ndim]) if t.strides else None
        dtype = np.dtype(self.KINDS[t.code, t.bits])
        size = int(np.prod(self.shape))
        flat = np.frombuffer(ctypes.string_at(t.data + t.byte_offset, size * dtype.itemsize), dtype) if size else np.zeros(0, dtype)
        self.values = flat.reshape(self.shape)
        assert strides is None or size == 0 or strides == tuple(s // dtype.itemsize for s in self.values.strides)


@pytest.mark.parametrize("version, copy", [(None, None), ((0, 8), None), ((1, 0), None), ((1, 0), True), ((1, 1), False), ((2, 0), False)])
@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64", "int32", "int64", "uint32", "bool"])
@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0, 3), (2, 3)])
def test_tensors_for_another_library(kind, shape, version, copy):
    with bt.environ.context(precision=64):
        tensor = jnp.arange(6).astype(kind)[:int(np.prod(shape))].reshape(shape)
        taken = Consumer(tensor, version, copy)
        assert taken.shape == shape and taken.values.astype("f8").tolist() == tensor.astype("float64").tolist() and taken.values.dtype == tensor.dtype
        assert taken.read_only == (copy is False)
        if tensor.size:
            assert (taken.address == np.asarray(tensor).ctypes.data) == (copy is False)


def test_results_of_a_view_go_out_in_order():
    taken = Consumer(jnp.arange(6).reshape(2, 3).T[::-1], (1, 0), None)
    assert taken.values.tolist() == [[2, 5], [1, 4], [0, 3]]


@pytest.mark.parametrize("versioned", [False, True])
def test_doubles_follow_the_environment(versioned):
    producer = Producer([1.0, 1 + 2**-40], (2,), (1,), versioned, kind="float64")
    with bt.environ.context(precision=64):
        assert jnp.asarray(producer).dtype == np.float64 and float(jnp.asarray(producer)[1]) == 1 + 2**-40
    assert jnp.asarray(producer).dtype == np.float32


def test_a_producer_that_fails_or_lies():
    class Strange(Producer):
        def __dlpack_device__(self):
            return self.told

    for told, error in (((2, 0), ValueError), (None, TypeError), ("cpu", (TypeError, ValueError)), ((), (TypeError, ValueError, IndexError))):
        strange = Strange([1.0], (1,), (1,))
        strange.told = told
        with pytest.raises(error):
            jnp.asarray(strange)
        assert strange.freed == 0
