# SPDX-License-Identifier: MIT
"""Buffers, plans and submissions by hand: no copies but those that are asked for."""
import contextlib
import ctypes
from ctypes import byref
from dataclasses import dataclass

import numpy as np

from . import _abi
from ._device import DTYPES, give, malformed, matrix, nanoseconds, pitch, place, right
from ._errors import Handle, Object, check, lib

READ = _abi.DRM_RKMM["SYNC_READ"]
WRITE = _abi.DRM_RKMM["SYNC_WRITE"]


class Buffer(Object):
    """Memory that CPU and NPU can reach; zeroed, a multiple of the page size."""

    def __init__(self, device, size, _dmabuf=None):
        def make(p):
            if _dmabuf is None:
                return lib.rkmm_buffer_create(device._pointer(), size, p)
            return lib.rkmm_buffer_import(device._pointer(), _dmabuf, p)
        self._handle = Handle(make, lib.rkmm_buffer_destroy, device._handle)

    @classmethod
    def from_dmabuf(cls, device, fd):
        """A buffer of another driver or process, by its dma-buf; fd stays the caller's."""
        return cls(device, 0, fd)

    @property
    def size(self):
        return lib.rkmm_buffer_size(self._pointer())

    def export(self):
        """A file descriptor of a dma-buf, which the caller closes."""
        fd = ctypes.c_int(-1)
        check(lib.rkmm_buffer_export(self._pointer(), byref(fd)))
        return fd.value

    def _bytes(self):
        address = ctypes.c_void_p()
        check(lib.rkmm_buffer_map(self._pointer(), byref(address)))
        memory = (ctypes.c_uint8 * self.size).from_address(address.value)
        # arrays of it keep the mapping, close() or not
        memory.handle = self._handle
        return np.frombuffer(memory, np.uint8)

    @contextlib.contextmanager
    def access(self, access, offset=0, size=None, timeout=None):
        """Bytes of a range for the CPU, within the with statement.

        access: READ, WRITE or both. Waits for submissions that are in the way. Without
        WRITE the array cannot be written to.
        """
        size = self.size - offset if size is None else size
        memory, pointer = self._bytes(), self._pointer()
        check(lib.rkmm_buffer_begin(pointer, offset, size, access, nanoseconds(timeout)))
        try:
            view = memory[offset:offset + size]
            view.flags.writeable = bool(access & WRITE)
            yield view
        finally:
            check(lib.rkmm_buffer_end(pointer, offset, size, access))


class Plan(Object):
    """How one matmul is done; operands lie in buffers as a, b and c describe."""

    def __init__(self, device, desc):
        self._handle = Handle(lambda p: lib.rkmm_plan_create(device._pointer(), byref(desc), p),
                              lib.rkmm_plan_destroy, device._handle)
        self.types, self.m, self.k, self.n = desc.types, desc.m, desc.k, desc.n

    def _tensor(self, get):
        tensor = ctypes.cast(get(self._pointer()), ctypes.POINTER(_abi.Tensor)).contents
        return _abi.Tensor.from_buffer_copy(tensor)

    @property
    def a(self):
        return self._tensor(lib.rkmm_plan_a)

    @property
    def b(self):
        return self._tensor(lib.rkmm_plan_b)

    @property
    def c(self):
        return self._tensor(lib.rkmm_plan_c)

    @property
    def evidence(self):
        """DERIVED, CAPTURED or VALIDATED: how sure the programs are."""
        return lib.rkmm_plan_evidence(self._pointer())

    @property
    def programs(self):
        return lib.rkmm_plan_programs(self._pointer())

    @property
    def predicted_ns(self):
        return lib.rkmm_plan_predicted_ns(self._pointer())

    def pack_a(self, buffer, a, offset=0):
        """Lay A out in a buffer."""
        a = matrix(a, DTYPES[self.types][0], "A")
        if a.shape[1] != self.k:
            raise malformed(f"A has {a.shape[1]} columns, the plan {self.k}")
        tensor = self.a
        with buffer.access(WRITE, offset, tensor.size) as mem:
            check(lib.rkmm_pack_a(byref(tensor), mem.ctypes.data, a.ctypes.data, pitch(a),
                                  *a.shape))

    def pack_b(self, buffer, b, offset=0):
        """Lay B out in a buffer."""
        b, flags = right(b, DTYPES[self.types][0])
        if (b.shape[::-1] if flags else b.shape) != (self.k, self.n):
            raise malformed(f"B: {b.shape}, the plan wants {(self.k, self.n)}")
        tensor = self.b
        with buffer.access(WRITE, offset, tensor.size) as mem:
            check(lib.rkmm_pack_b(byref(tensor), mem.ctypes.data, b.ctypes.data, pitch(b),
                                  self.k, self.n, flags))

    def finish_c(self, buffer, offset=0, rows=None, out=None):
        """C of a buffer as an array, when its submission has ended."""
        c, copied = place(out, (rows or self.m, self.n), DTYPES[self.types][1])
        with buffer.access(READ, offset, self.c.size) as mem:
            check(lib.rkmm_finish_c(self._pointer(), mem.ctypes.data, c.ctypes.data, pitch(c),
                                    c.shape[0]))
        return give(c, copied, out)


@dataclass
class Op:
    """One operation of a submission: a plan, and a buffer or (buffer, offset) for each operand.

    rows: fewer than the plan has; grouped: may run together with the one before it.
    """
    plan: Plan
    a: object
    b: object
    c: object
    rows: int = 0
    grouped: bool = False


def _operand(place_of):
    buffer, offset = place_of if isinstance(place_of, tuple) else (place_of, 0)
    return _abi.Operand(buffer._pointer(), offset)


def submit(device, ops, cores=0, hints=0):
    """Device.submit()"""
    ops = list(ops)
    array = (_abi.Op * max(1, len(ops)))()
    for to, op in zip(array, ops):
        to.plan = op.plan._pointer()
        to.rows = op.rows
        to.flags = _abi.DRM_RKMM["OP_GROUPED"] if op.grouped else 0
        to.a, to.b, to.c = _operand(op.a), _operand(op.b), _operand(op.c)
    options = _abi.SubmitOptions(cores=cores, hints=hints)
    seqno = ctypes.c_uint64()
    check(lib.rkmm_submit(device._pointer(), array, len(ops), byref(options), byref(seqno)))
    return seqno.value
