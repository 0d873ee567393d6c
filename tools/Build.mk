# SPDX-License-Identifier: MIT

host-bins += rkmm-matmul
rkmm-matmul-parts := tools/matmul/cli.c tools/matmul/load.c tools/matmul/run.c \
	tools/matmul/verify.c tools/matmul/report.c tools/matmul/random.c tools/matmul/npy.c \
	tools/common/common.c
rkmm-matmul-srcs := tools/matmul/main.c $(rkmm-matmul-parts)
rkmm-matmul-shlibs := rkmm rkmm-compute
rkmm-matmul-ldlibs := -lm

host-bins += rkmm-regcmd
rkmm-regcmd-srcs := $(sort $(wildcard tools/regcmd/*.c))
rkmm-regcmd-libs := prog model

host-bins += rkmm-bench
rkmm-bench-parts := $(filter-out tools/bench/main.c,$(sort $(wildcard tools/bench/*.c))) \
	tools/common/common.c
rkmm-bench-srcs := tools/bench/main.c $(rkmm-bench-parts)
rkmm-bench-libs := prog
rkmm-bench-shlibs := rkmm rkmm-compute
rkmm-bench-cflags := -O3
rkmm-bench-ldlibs := -lm -lpthread

host-bins += rkmm-weights
rkmm-weights-parts := tools/weights/cli.c tools/weights/pack.c tools/weights/layout.c \
	tools/matmul/npy.c tools/common/common.c lib/rkw.c
rkmm-weights-srcs := tools/weights/main.c $(rkmm-weights-parts)
rkmm-weights-libs := prog
rkmm-weights-shlibs := rkmm rkmm-compute
rkmm-weights-ldlibs := -lz

# a program of the build machine: it runs no NPU
host-bins += rkmm-replay
host-only += rkmm-replay
rkmm-replay-parts := $(filter-out tools/replay/main.c,$(sort $(wildcard tools/replay/*.c))) \
	tools/common/common.c tools/common/perfetto.c
rkmm-replay-srcs := tools/replay/main.c $(rkmm-replay-parts)
rkmm-replay-libs := prog model
rkmm-replay-ldlibs := -ljansson

host-bins += rkmm-calibrate
rkmm-calibrate-srcs := $(sort $(wildcard tools/calibrate/*.c)) tools/common/common.c

host-bins += rkmm-trace
rkmm-trace-parts := $(filter-out tools/trace/main.c,$(sort $(wildcard tools/trace/*.c))) \
	tools/common/common.c tools/common/perfetto.c
rkmm-trace-srcs := tools/trace/main.c $(rkmm-trace-parts)

host-bins += rkmm-top
rkmm-top-parts := $(filter-out tools/top/main.c,$(sort $(wildcard tools/top/*.c))) \
	tools/common/common.c tools/common/perfetto.c
rkmm-top-srcs := tools/top/main.c $(rkmm-top-parts)
rkmm-top-ldlibs := -lncurses -ltinfo

# examples of sequences
host-bins += rkmm-attention rkmm-mlp rkmm-digits
example-parts := tools/examples/example.c tools/common/common.c
rkmm-attention-srcs := tools/examples/attention.c $(example-parts)
rkmm-attention-shlibs := rkmm-compute rkmm
rkmm-attention-ldlibs := -lm
rkmm-mlp-srcs := tools/examples/mlp.c $(example-parts)
rkmm-mlp-shlibs := rkmm-compute rkmm
rkmm-mlp-ldlibs := -lm
rkmm-digits-srcs := $(addprefix tools/examples/,digits.c digits_data.c digits_train.c digits_npu.c) $(example-parts)
rkmm-digits-shlibs := rkmm-compute rkmm
rkmm-digits-ldlibs := -lz -lm

host-bins += rkmm-info
rkmm-info-srcs := $(sort $(wildcard tools/info/*.c)) tools/common/common.c
rkmm-info-shlibs := rkmm

# what the bring-up kit asks the NPU with
host-bins += rkmm-probe
rkmm-probe-srcs := tools/bringup/probe.c tools/common/common.c
rkmm-probe-shlibs := rkmm
