# SPDX-License-Identifier: MIT

shared-libs += rkmm
rkmm-srcs := lib/error.c lib/sys.c lib/device.c lib/buffer.c lib/plan.c lib/pack.c lib/detile.c \
	lib/half.c lib/weights.c lib/submit.c lib/context.c lib/matmul.c
rkmm-version := 0.1.0
rkmm-map := lib/rkmm.map
rkmm-headers := lib/rkmm.h uapi/rkmm_drm.h
rkmm-pc := lib/librkmm.pc.in
rkmm-ldlibs := -lpthread

host-bins += rkmm-example
rkmm-example-srcs := lib/example.c
rkmm-example-shlibs := rkmm
