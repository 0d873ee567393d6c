# SPDX-License-Identifier: MIT
"""Sequences: several operations that the NPU runs in one submission."""
from ctypes import byref

import numpy as np

from . import _abi
from ._abi import DRM_RKMM, RKMM
from ._device import malformed, matrix, pitch, place, give
from ._errors import Handle, Object, error, lib

seqlib = _abi.load("rkmm-compute", _abi.SEQ_FUNCTIONS)

F16 = DRM_RKMM["F16"]
I8 = DRM_RKMM["I8"]
# kinds of operation by their names in rkmm_drm.h, in small letters
KINDS = {name[3:].lower(): value for name, value in DRM_RKMM.items()
         if name.startswith("OP_") and name not in ("OP_GROUPED", "OP_MATMUL")}


class Sequence(Object):
    """Described once, run as often as there is new data; each run is one submission.

    Tensors are numbers; 0 stands for none. Matrices are fp16 in the NPU and float32 here,
    unless a tensor was made with element=I8:

        with dev.sequence() as s:
            x = s.input(rows, 256)
            y = s.linear(x, s.weights(w), activation="relu")
            s.output(y, (rows, 64))
            s.build()
            s.write(x, data)
            s.run()
            result = s.read(y)

    For one thread at a time. Weights and device stay as long as it does.
    """

    def __init__(self, device):
        self._handle = Handle(lambda p: seqlib.rkmm_seq_create(device._pointer(), p),
                              seqlib.rkmm_seq_destroy, device._handle)
        self._tensors = {}
        self._outputs = {}

    def _check(self, ret):
        if ret < 0:
            raise error(-ret, (seqlib.rkmm_seq_error(self._pointer()) or b"").decode())
        return ret

    def _input(self, tensor, shape, element, bias=False):
        self._tensors[self._check(tensor)] = (shape, element, bias)
        return tensor

    # tensors

    def input(self, rows, cols, element=F16):
        """A matrix that write() fills; what was written stays."""
        return self._input(seqlib.rkmm_seq_input(self._pointer(), element, rows, cols),
                           (rows, cols), element)

    def input_b(self, k, n, element=F16):
        """Right operand of matmuls that write() fills."""
        return self._input(seqlib.rkmm_seq_input_b(self._pointer(), element, k, n), (k, n),
                           element)

    def vector(self, n, element=F16):
        """A factor for each column."""
        return self._input(seqlib.rkmm_seq_vector(self._pointer(), element, n), (1, n), element)

    def bias(self, n, element=F16):
        """A summand for each column; of int8 sequences int32."""
        return self._input(seqlib.rkmm_seq_bias(self._pointer(), element, n), (1, n), element,
                           True)

    def weights(self, weights):
        """Right operand of matmuls: resident rkmm.Weights."""
        tensor = self._check(seqlib.rkmm_seq_weights(self._pointer(), weights._pointer()))
        self._handle.keep += (weights._handle,)
        return tensor

    # operations

    def matmul(self, types, a, b, **desc):
        """a x b; mult, shift, offset of I8I8."""
        from ._device import describe
        desc = describe(types, 0, 0, 0, **desc)
        return self._check(seqlib.rkmm_seq_matmul(self._pointer(), byref(desc), a, b))

    def unary(self, kind, a):
        """An operation without parameters: "relu", "sigmoid", "silu", "gelu", "exp" ..."""
        return self._check(seqlib.rkmm_seq_unary(self._pointer(), KINDS[kind], a))

    def binary(self, kind, a, b):
        """"add", "sub", "mul", "max", "min", "div" of two tensors."""
        return self._check(seqlib.rkmm_seq_binary(self._pointer(), KINDS[kind], a, b))

    def op(self, kind, a, b=0, d=0, **desc):
        """Any operation that is no matmul; desc: fields of struct rkmm_op_desc."""
        desc = _abi.OpDesc(kind=KINDS[kind], **desc)
        return self._check(seqlib.rkmm_seq_op(self._pointer(), byref(desc), a, b, d))

    def softmax(self, a, mask=0, scale=0.0, causal=False):
        """softmax of scale (a + mask) by rows."""
        return self._check(seqlib.rkmm_seq_softmax(self._pointer(), a, mask, scale,
                                                   DRM_RKMM["CAUSAL"] if causal else 0))

    def linear(self, x, w, bias=0, activation=None):
        """activation(x w + bias), as one plan."""
        kind = KINDS[activation] if activation else 0
        return self._check(seqlib.rkmm_seq_linear(self._pointer(), x, w, bias, kind))

    def gated_mlp(self, x, gate, up, down):
        """(silu(x gate) * (x up)) down"""
        return self._check(seqlib.rkmm_seq_gated_mlp(self._pointer(), x, gate, up, down))

    def attention(self, q, k, v, mask=0, scale=0.0, causal=False):
        """softmax(scale (q k + mask)) v of one head; k is D x T."""
        return self._check(seqlib.rkmm_seq_attention(self._pointer(), q, k, v, mask, scale,
                                                     DRM_RKMM["CAUSAL"] if causal else 0))

    def output(self, tensor, shape, dtype=np.float32):
        """Make a result readable, as an array of this shape and dtype.

        float32 of fp16 results is widened here; float16, int8, int32 and float32 of F16F32
        are read as they are with raw=True of read().
        """
        self._check(seqlib.rkmm_seq_output(self._pointer(), tensor))
        self._outputs[tensor] = (shape, np.dtype(dtype))

    # use

    def build(self):
        """Fix order and memory; nothing can be added afterwards."""
        self._check(seqlib.rkmm_seq_build(self._pointer()))

    def write(self, tensor, array):
        """Fill an input; float32 is rounded to fp16."""
        if tensor not in self._tensors:
            raise malformed(f"tensor {tensor} is no input")
        shape, element, bias = self._tensors[tensor]
        array = np.atleast_2d(np.asarray(array))
        flags = 0
        if element == F16 and array.dtype != np.float16:
            dtype, flags = np.dtype(np.float32), RKMM["SEQ_F32"]
            array = array.astype(np.float32, copy=False)
        elif element == F16:
            dtype = np.dtype(np.float16)
        else:
            dtype = np.dtype(np.int32 if bias else np.int8)
        array = matrix(array, dtype, f"tensor {tensor}")
        if array.shape != shape:
            raise malformed(f"tensor {tensor}: {array.shape}, not {shape}")
        self._check(seqlib.rkmm_seq_write(self._pointer(), tensor, array.ctypes.data,
                                          pitch(array), flags))

    def run(self):
        """Run all of it and wait."""
        self._check(seqlib.rkmm_seq_run(self._pointer()))

    def read(self, tensor, out=None, raw=False):
        """An output, after run()."""
        if tensor not in self._outputs:
            raise malformed(f"tensor {tensor} is no output")
        shape, dtype = self._outputs[tensor]
        flags = RKMM["SEQ_F32"] if dtype == np.float32 and not raw else 0
        c, copied = place(out, shape, dtype)
        self._check(seqlib.rkmm_seq_read(self._pointer(), tensor, c.ctypes.data, pitch(c),
                                         flags))
        return give(c, copied, out)

    @property
    def info(self):
        """What it costs: operations, programs, bytes, predicted time."""
        info = _abi.SeqInfo()
        self._check(seqlib.rkmm_seq_info(self._pointer(), byref(info)))
        return info
