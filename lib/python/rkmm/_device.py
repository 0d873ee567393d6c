# SPDX-License-Identifier: MIT
"""Devices, weights, contexts: matmuls of numpy arrays."""
import ctypes
import errno
import os
from ctypes import byref

import numpy as np

from . import _abi
from ._abi import DRM_RKMM, FOREVER, RKMM
from ._errors import Error, Handle, Object, check, lib

I8I32 = DRM_RKMM["I8I32"]
I8I8 = DRM_RKMM["I8I8"]
F16F32 = DRM_RKMM["F16F32"]
F16F16 = DRM_RKMM["F16F16"]
I4I16 = DRM_RKMM["I4I16"]

# of A and B, and of C
DTYPES = {
    I8I32: (np.dtype(np.int8), np.dtype(np.int32)),
    I8I8: (np.dtype(np.int8), np.dtype(np.int8)),
    F16F32: (np.dtype(np.float16), np.dtype(np.float32)),
    F16F16: (np.dtype(np.float16), np.dtype(np.float16)),
    I4I16: (np.dtype(np.int8), np.dtype(np.int16)),
}


def malformed(text):
    return Error(errno.EINVAL, text)


def types_of(dtype):
    """The types that arrays of a dtype have when none are given."""
    if dtype == np.int8:
        return I8I32
    if dtype == np.float16:
        return F16F32
    raise malformed(f"matmul of {dtype}: int8 or float16, or tell the types")


def matrix(array, dtype, what):
    """As a 2-D array with elements of a row side by side; copied only when it is not so."""
    array = np.asarray(array)
    if array.ndim != 2:
        raise malformed(f"{what}: {array.ndim} dimensions, not 2")
    if array.dtype != dtype:
        raise malformed(f"{what}: {array.dtype}, not {dtype}")
    if not array.size:
        raise malformed(f"{what}: no elements")
    size = array.itemsize
    if (array.shape[1] > 1 and array.strides[1] != size) or (
            array.shape[0] > 1 and (array.strides[0] < array.shape[1] * size or
                                    array.strides[0] % size)):
        array = np.ascontiguousarray(array)
    return array


def pitch(array):
    """Elements from one row to the next."""
    if array.shape[0] == 1:
        return array.shape[1]
    return array.strides[0] // array.itemsize


def right(array, dtype):
    """B, and RKMM_B_TRANSPOSED where its columns lie one behind the other."""
    array = np.asarray(array)
    if array.ndim == 2 and not array.flags.c_contiguous and array.T.flags.c_contiguous:
        return matrix(array.T, dtype, "B"), RKMM["B_TRANSPOSED"]
    return matrix(array, dtype, "B"), 0


def nanoseconds(seconds):
    """A timeout; None waits without end."""
    return FOREVER if seconds is None else max(0, int(seconds * 1e9))


class Device(Object):
    """The NPU.

    path: a render node; by default the one whose driver is called "rkmm". Objects made from a
    device keep it open: the order of close() does not matter.
    """

    def __init__(self, path=None):
        name = None if path is None else os.fsencode(path)
        self._handle = Handle(lambda p: lib.rkmm_open(name, p), lib.rkmm_close)

    @property
    def info(self):
        """Facts about the device, read now: chip, cores, clock_hz, resets and so on."""
        info = _abi.DeviceInfo()
        check(lib.rkmm_device_info(self._pointer(), byref(info)))
        return info

    @property
    def client(self):
        """Counters of this client, read now."""
        info = _abi.ClientInfo()
        check(lib.rkmm_client_info(self._pointer(), byref(info)))
        return info

    def type_info(self, types):
        """Facts about I8I32, I8I8, F16F32, F16F16 or I4I16."""
        info = _abi.TypeInfo()
        check(lib.rkmm_type_info(self._pointer(), types, byref(info)))
        return info

    def matmul(self, a, b, types=None, out=None, **desc):
        """a @ b: int8 gives int32 and float16 gives float32 unless types say otherwise.

        types: I8I32, I8I8 (with mult, shift, offset), F16F32, F16F16, or I4I16 of int8 arrays
        with values from -8 to 7. out: where the result goes. cores, form: see
        struct rkmm_matmul_desc.
        """
        types = types_of(np.asarray(a).dtype) if types is None else types
        dtype, result = dtypes(types)
        a = matrix(a, dtype, "A")
        b, flags = right(b, dtype)
        k, n = b.shape[::-1] if flags else b.shape
        if a.shape[1] != k:
            raise malformed(f"A has {a.shape[1]} columns, B {k} rows")
        c, copied = place(out, (a.shape[0], n), result)
        desc = describe(types, a.shape[0], k, n, flags=flags, **desc)
        check(lib.rkmm_matmul(self._pointer(), byref(desc), a.ctypes.data, pitch(a),
                              b.ctypes.data, pitch(b), c.ctypes.data, pitch(c)))
        return give(c, copied, out)

    def weights(self, b, types=None):
        """B packed once, and resident: Weights."""
        types = types_of(np.asarray(b).dtype) if types is None else types
        b, flags = right(b, dtypes(types)[0])
        k, n = b.shape[::-1] if flags else b.shape
        return Weights(self, lambda p: lib.rkmm_weights_create(
            self._pointer(), types, k, n, b.ctypes.data, pitch(b), flags, p))

    def load_weights(self, path, types=None):
        """Weights from a file of Weights.save() or rkmm-weights(1)."""
        types = RKMM["AS_STORED"] if types is None else types
        return Weights(self, lambda p: lib.rkmm_weights_load(
            self._pointer(), os.fsencode(path), types, p))

    def context(self, rows, weights, **desc):
        """Products of up to so many rows by weights like these: Context."""
        return Context(self, rows, weights, desc)

    def buffer(self, size):
        """A zeroed buffer that CPU and NPU can reach: rkmm.Buffer."""
        from ._plan import Buffer
        return Buffer(self, size)

    def plan(self, types, m, k, n, **desc):
        """How a matmul is done: rkmm.Plan, for submissions by hand."""
        from ._plan import Plan
        return Plan(self, describe(types, m, k, n, **desc))

    def submit(self, ops, **options):
        """Run operations, in order; a number for wait(). See rkmm.Op."""
        from ._plan import submit
        return submit(self, ops, **options)

    def wait(self, seqno, timeout=None):
        """Wait for a submission, so many seconds or without end."""
        check(lib.rkmm_wait(self._pointer(), seqno, nanoseconds(timeout)))

    def sequence(self):
        """Several operations that run in one submission: rkmm.Sequence."""
        from ._sequence import Sequence
        return Sequence(self)


def dtypes(types):
    if types not in DTYPES:
        raise malformed(f"types {types}: not a type pair")
    return DTYPES[types]


def describe(types, m, k, n, **more):
    """struct rkmm_matmul_desc; numbers that do not fit are refused, not cut."""
    desc = _abi.MatmulDesc()
    fields = dict(_abi.MatmulDesc._fields_)
    for name, value in dict(types=types, m=m, k=k, n=n, **more).items():
        if name not in fields or name == "reserved":
            raise TypeError(f"a matmul has no {name}")
        value = int(value)
        setattr(desc, name, value)
        if getattr(desc, name) != value:
            raise malformed(f"{name}: {value} is out of range")
    return desc


def place(out, shape, dtype):
    """An array that the library can write to, and whether it must be copied afterwards."""
    if out is None:
        return np.empty(shape, dtype), False
    if out.shape != shape or out.dtype != dtype or not out.flags.writeable:
        raise malformed(f"out: not a writeable array {shape} of {dtype}")
    c = matrix(out, dtype, "out")
    return c, not np.shares_memory(c, out)


def give(c, copied, out):
    if out is None:
        return c
    if copied:
        out[...] = c
    return out


class Weights(Object):
    """B of matmuls, packed and resident. Serves contexts of any number of rows."""

    def __init__(self, device, make):
        self._handle = Handle(make, lib.rkmm_weights_destroy, device._handle)

    @property
    def types(self):
        return lib.rkmm_weights_types(self._pointer())

    @property
    def shape(self):
        """(K, N)"""
        k, n = ctypes.c_uint32(), ctypes.c_uint32()
        lib.rkmm_weights_shape(self._pointer(), byref(k), byref(n))
        return k.value, n.value

    @property
    def scales(self):
        """A scale for each column, or None. Kept and saved with the weights, not applied."""
        pointer = lib.rkmm_weights_scales(self._pointer())
        if not pointer:
            return None
        return np.ctypeslib.as_array((ctypes.c_float * self.shape[1]).from_address(pointer)).copy()

    @scales.setter
    def scales(self, values):
        if values is not None:
            values = np.ascontiguousarray(values, np.float32)
            if values.shape != (self.shape[1],):
                raise malformed(f"scales: {values.shape}, not ({self.shape[1]},)")
        check(lib.rkmm_weights_set_scales(self._pointer(),
                                          None if values is None else values.ctypes.data))

    def save(self, path):
        """Write a file for Device.load_weights(), replaced when the new one is complete."""
        check(lib.rkmm_weights_save(self._pointer(), os.fsencode(path)))


class Context(Object):
    """A plan with buffers for A and C: a repeated matmul allocates nothing but its result.

    For one thread at a time, with one product in flight. Weights with the same layout as
    those it was made with may take their turns.
    """

    def __init__(self, device, rows, weights, desc):
        k, n = weights.shape
        self.rows = rows
        self._k, self._n, self._types = k, n, weights.types
        self._submitted = 0
        desc = describe(self._types, rows, k, n, **desc)
        self._handle = Handle(lambda p: lib.rkmm_context_create(
            device._pointer(), byref(desc), weights._pointer(), p), lib.rkmm_context_destroy,
            device._handle)
        self._weights = weights

    def submit(self, a, weights=None):
        """Pack A and start; the array may be changed at once."""
        a = matrix(a, DTYPES[self._types][0], "A")
        if a.shape[1] != self._k or a.shape[0] > self.rows:
            raise malformed(f"A: {a.shape}, not up to ({self.rows}, {self._k})")
        weights = weights or self._weights
        check(lib.rkmm_context_submit(self._pointer(), weights._pointer(), a.ctypes.data,
                                      pitch(a), a.shape[0]))
        self._submitted = a.shape[0]

    def wait(self, timeout=None):
        """Wait for what submit() started, so many seconds or without end."""
        check(lib.rkmm_context_wait(self._pointer(), nanoseconds(timeout)))

    def read(self, out=None):
        """The result, after wait()."""
        c, copied = place(out, (max(self._submitted, 1), self._n), DTYPES[self._types][1])
        check(lib.rkmm_context_read(self._pointer(), c.ctypes.data, pitch(c)))
        return give(c, copied, out)

    def run(self, a, weights=None, out=None):
        """submit(), wait() and read()."""
        self.submit(a, weights)
        self.wait()
        return self.read(out)

    def close(self):
        super().close()
        self._weights = None
