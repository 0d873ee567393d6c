# SPDX-License-Identifier: GPL-2.0-only
# The vector loops of npu_fp.c need -O3; no contraction, so that every machine gives the same bits.
host-libs += model
model-srcs := $(addprefix kmod/soft/model/,npu_cbuf.c npu_conv.c npu_core.c npu_dpu.c \
	npu_dpu_laws.c npu_die.c npu_fp.c npu_laws.c npu_lut.c npu_out.c npu_pc.c npu_ppu.c \
	npu_stage.c npu_stale.c npu_time.c)
model-cflags := -O3 -ffp-contract=off
