# SPDX-License-Identifier: MIT
"""Matrix operations on the NPU of the RK3588: librkmm for numpy arrays.

    import numpy as np
    import rkmm

    with rkmm.Device() as npu:
        c = npu.matmul(a, b)                # int8 gives int32, float16 gives float32
        with npu.weights(b) as w, npu.context(64, w) as ctx:
            for a in batches:               # B is packed once and stays resident
                c = ctx.run(a)

Errors are rkmm.Error, an OSError: errno says which, strerror is a sentence about it. Some have
classes of their own, such as rkmm.NotSupported for a shape that is not served. Functions let
other threads run while the NPU works. RKMM_LIBDIR names the folder of the libraries where they
are not installed.
"""
from ._abi import DRM_RKMM as _NUMBERS
from ._device import F16F16, F16F32, I4I16, I8I32, I8I8, Context, Device, Weights
from ._errors import (Banned, Error, Hang, NoDevice, NoRoom, NotAllowed, NotSupported, Stale,
                      Timeout, lib)
from ._plan import READ, WRITE, Buffer, Op, Plan

# elements of sequences
F16 = _NUMBERS["F16"]
I8 = _NUMBERS["I8"]

__version__ = lib.rkmm_version_string().decode()

__all__ = [
    "Banned", "Buffer", "Context", "Device", "Error", "F16", "F16F16", "F16F32", "Hang",
    "I4I16", "I8", "I8I32", "I8I8", "NoDevice", "NoRoom", "NotAllowed", "NotSupported", "Op", "Plan",
    "READ", "Stale", "Timeout", "WRITE", "Weights", "__version__",
]
