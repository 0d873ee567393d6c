# SPDX-License-Identifier: MIT
"""What of rkmm.h, rkmm_seq.h and rkmm_drm.h is used: numbers, structures, functions.

Needs no numpy. selftests/unit/python.sh compares all of it with the headers.
"""
import ctypes
import ctypes.util
import os
from ctypes import POINTER, Structure, c_char, c_char_p, c_float, c_int, c_int32, c_int64
from ctypes import c_size_t, c_uint16, c_uint32, c_uint64, c_void_p

# names of the header behind the prefix
DRM_RKMM = {
    name: value
    for group in (
        ("I8I32", "I8I8", "F16F32", "F16F16", "I4I16"),
        ("F16", "I8", "I16"),
        ("FORM_AUTO", "FORM_FLAT", "FORM_BATCH", "FORM_CUBE"),
        ("DERIVED", "CAPTURED", "VALIDATED"),
        ("OTHER_TENSOR", "OTHER_SCALAR", "OTHER_CHANNEL"),
        ("OP_MATMUL", "OP_ADD", "OP_SUB", "OP_MUL", "OP_MAX", "OP_MIN", "OP_DIV", "OP_COPY",
         "OP_RELU", "OP_CLAMP", "OP_LEAKY", "OP_EXP", "OP_SIGMOID", "OP_TANH", "OP_SILU",
         "OP_GELU", "OP_HARDSWISH", "OP_RECIPROCAL", "OP_RSQRT", "OP_ROWMAX", "OP_ROWSUM",
         "OP_ROWMEAN", "OP_SOFTMAX", "OP_RMSNORM", "OP_LAYERNORM", "OP_MAXPOOL", "OP_AVGPOOL",
         "OP_REQUANT", "OP_TRANSPOSE"),
    )
    for value, name in enumerate(group)
}
DRM_RKMM.update(
    SYNC_READ=1, SYNC_WRITE=2,
    OP_GROUPED=1, SUBMIT_LATENCY=2, SUBMIT_POWER=4,
    FLAT=1, MASK=2, CAUSAL=4, GAMMA=8, BETA=16,
    DEVICE_SOFT=1, DEVICE_STRICT=2, DEVICE_UNVALIDATED=4,
    PLAN_HOST_FINISH=1, PLAN_MAY_SATURATE=2,
)
RKMM = {"B_TRANSPOSED": 1, "FREE_SLICES": 2, "SEQ_F32": 1 << 8, "AS_STORED": 0xffffffff}
FOREVER = -1


class Tensor(Structure):
    """How an operand lies in its buffer: struct drm_rkmm_tensor."""
    c_name = "struct drm_rkmm_tensor"
    _fields_ = [("size", c_uint64), ("layout_id", c_uint64), ("layout", c_uint32),
                ("rows", c_uint32), ("cols", c_uint32), ("pitch", c_uint32),
                ("group", c_uint32), ("tile_rows", c_uint32), ("tile_cols", c_uint32),
                ("bits", c_uint32), ("slice_stride", c_uint64), ("slices", c_uint32),
                ("slice", c_uint32)]


class DeviceInfo(Structure):
    """Facts about the device: struct drm_rkmm_device_info."""
    c_name = "struct drm_rkmm_device_info"
    _fields_ = [("chip", c_char * 16), ("version", c_uint32), ("flags", c_uint32),
                ("cores", c_uint32), ("core_mask", c_uint32), ("hw_version", c_uint32),
                ("k_max", c_uint32), ("clock_hz", c_uint64), ("clock_max_hz", c_uint64),
                ("window_bytes", c_uint64), ("resets", c_uint64), ("jobs", c_uint64),
                ("n_max", c_uint32), ("pad", c_uint32)]


class ClientInfo(Structure):
    """Counters of this client: struct drm_rkmm_client_info."""
    c_name = "struct drm_rkmm_client_info"
    _fields_ = [("jobs", c_uint64), ("guilty", c_uint64), ("innocent", c_uint64),
                ("npu_ns", c_uint64), ("program_bytes", c_uint64),
                ("programs_emitted", c_uint64), ("banned", c_uint32), ("pad", c_uint32),
                ("priority", c_uint32), ("pad2", c_uint32)]


class TypeInfo(Structure):
    """Facts about a type pair: struct drm_rkmm_type_info."""
    c_name = "struct drm_rkmm_type_info"
    _fields_ = [("types", c_uint32), ("evidence", c_uint32), ("in_bits", c_uint32),
                ("out_bits", c_uint32), ("k_align", c_uint32), ("n_align", c_uint32)]


class MatmulDesc(Structure):
    c_name = "struct rkmm_matmul_desc"
    _fields_ = [("types", c_uint32), ("m", c_uint32), ("k", c_uint32), ("n", c_uint32),
                ("flags", c_uint32), ("cores", c_uint32), ("a_pitch", c_uint32),
                ("c_pitch", c_uint32), ("b_layout", c_uint64), ("mult", c_int32),
                ("shift", c_uint32), ("offset", c_int32), ("form", c_uint32),
                ("reserved", c_uint32 * 4)]


class OpDesc(Structure):
    c_name = "struct rkmm_op_desc"
    _fields_ = [("kind", c_uint32), ("element", c_uint32), ("m", c_uint32), ("n", c_uint32),
                ("other", c_uint32), ("flags", c_uint32), ("cores", c_uint32),
                ("value", c_float), ("value2", c_float), ("scale", c_float),
                ("out_scale", c_float), ("za", c_int32), ("zb", c_int32), ("sb", c_uint32),
                ("sb_shift", c_uint32), ("mult", c_int32), ("shift", c_uint32),
                ("offset", c_int32), ("width", c_uint32), ("kernel_w", c_uint16),
                ("kernel_h", c_uint16), ("stride_w", c_uint16), ("stride_h", c_uint16),
                ("reserved", c_uint32 * 4)]


class Operand(Structure):
    c_name = "struct rkmm_operand"
    _fields_ = [("buf", c_void_p), ("offset", c_uint64)]


class Op(Structure):
    c_name = "struct rkmm_op"
    _fields_ = [("plan", c_void_p), ("rows", c_uint32), ("flags", c_uint32), ("a", Operand),
                ("b", Operand), ("c", Operand), ("a_stride", c_uint64),
                ("b_stride", c_uint64), ("c_stride", c_uint64), ("count", c_uint32),
                ("reserved", c_uint32), ("d", Operand), ("e", Operand)]


class SubmitOptions(Structure):
    c_name = "struct rkmm_submit_options"
    _fields_ = [("in_syncs", c_void_p), ("out_syncs", c_void_p), ("num_in", c_uint32),
                ("num_out", c_uint32), ("cores", c_uint32), ("hints", c_uint32),
                ("reserved", c_uint32 * 4)]


class SeqInfo(Structure):
    """What a sequence costs: struct rkmm_seq_info."""
    c_name = "struct rkmm_seq_info"
    _fields_ = [("ops", c_uint32), ("programs", c_uint32), ("plans", c_uint32),
                ("derived", c_uint32), ("predicted_ns", c_uint64), ("shared_bytes", c_uint64),
                ("alone_bytes", c_uint64), ("io_bytes", c_uint64),
                ("temporary_bytes", c_uint64), ("reserved", c_uint64 * 3)]


STRUCTURES = (Tensor, DeviceInfo, ClientInfo, TypeInfo, MatmulDesc, OpDesc, Operand, Op,
              SubmitOptions, SeqInfo)

# a letter for each type: p pointer, s string, i int, u uint32_t, q uint64_t, l int64_t,
# z size_t, f float, v void; the result comes first
LETTERS = {"p": c_void_p, "s": c_char_p, "i": c_int, "u": c_uint32, "q": c_uint64,
           "l": c_int64, "z": c_size_t, "f": c_float, "v": None}

FUNCTIONS = {
    "rkmm_last_error": "s",
    "rkmm_version_string": "s",
    "rkmm_open": "isp",
    "rkmm_close": "vp",
    "rkmm_device_info": "ipp",
    "rkmm_client_info": "ipp",
    "rkmm_type_info": "ipup",
    "rkmm_buffer_create": "ipqp",
    "rkmm_buffer_import": "ipip",
    "rkmm_buffer_export": "ipp",
    "rkmm_buffer_map": "ipp",
    "rkmm_buffer_begin": "ipqqul",
    "rkmm_buffer_end": "ipqqu",
    "rkmm_buffer_size": "qp",
    "rkmm_buffer_destroy": "vp",
    "rkmm_plan_create": "ippp",
    "rkmm_plan_create_op": "ippp",
    "rkmm_plan_a": "pp",
    "rkmm_plan_b": "pp",
    "rkmm_plan_c": "pp",
    "rkmm_plan_d": "pp",
    "rkmm_plan_evidence": "up",
    "rkmm_plan_flags": "up",
    "rkmm_plan_programs": "up",
    "rkmm_plan_predicted_ns": "qp",
    "rkmm_plan_destroy": "vp",
    "rkmm_pack_a": "ipppzuu",
    "rkmm_pack_b": "ipppzuuu",
    "rkmm_unpack_c": "ipppzuu",
    "rkmm_finish_c": "ipppzu",
    "rkmm_weights_create": "ipuuupzup",
    "rkmm_weights_load": "ipsup",
    "rkmm_weights_save": "ips",
    "rkmm_weights_types": "up",
    "rkmm_weights_shape": "vppp",
    "rkmm_weights_scales": "pp",
    "rkmm_weights_set_scales": "ipp",
    "rkmm_weights_destroy": "vp",
    "rkmm_submit": "ippupp",
    "rkmm_submit_wait": "ippup",
    "rkmm_wait": "ipql",
    "rkmm_context_create": "ipppp",
    "rkmm_context_plan": "pp",
    "rkmm_context_submit": "ipppzu",
    "rkmm_context_wait": "ipl",
    "rkmm_context_read": "ippz",
    "rkmm_context_destroy": "vp",
    "rkmm_matmul": "ipppzpzpz",
}

SEQ_FUNCTIONS = {
    "rkmm_seq_create": "ipp",
    "rkmm_seq_destroy": "vp",
    "rkmm_seq_error": "sp",
    "rkmm_seq_input": "ipuuu",
    "rkmm_seq_input_b": "ipuuu",
    "rkmm_seq_weights": "ipp",
    "rkmm_seq_vector": "ipuu",
    "rkmm_seq_bias": "ipuu",
    "rkmm_seq_matmul": "ippii",
    "rkmm_seq_op": "ippiii",
    "rkmm_seq_unary": "ipui",
    "rkmm_seq_binary": "ipuii",
    "rkmm_seq_softmax": "ipiifu",
    "rkmm_seq_output": "ipi",
    "rkmm_seq_linear": "ipiiiu",
    "rkmm_seq_gated_mlp": "ipiiii",
    "rkmm_seq_attention": "ipiiiifu",
    "rkmm_seq_build": "ip",
    "rkmm_seq_write": "ipipzu",
    "rkmm_seq_run": "ip",
    "rkmm_seq_read": "ipipzu",
    "rkmm_seq_info": "ipp",
}


def load(name, functions):
    """The library lib<name>, of RKMM_LIBDIR or where the system has it, with its functions."""
    folder = os.environ.get("RKMM_LIBDIR")
    sonames = [f"lib{name}.so.1", f"lib{name}.so.0", f"lib{name}.so"]
    if folder:
        sonames = [os.path.join(folder, s) for s in sonames]
        sonames = [s for s in sonames if os.path.exists(s)] or sonames
    reason = None
    for soname in sonames:
        try:
            lib = ctypes.CDLL(soname)
            break
        except OSError as e:
            reason = reason or e
    else:
        raise ImportError(f"lib{name} is not there: {reason}")
    for function, letters in functions.items():
        f = getattr(lib, function)
        f.restype = LETTERS[letters[0]]
        f.argtypes = [LETTERS[c] for c in letters[1:]]
    return lib
