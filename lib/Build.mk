# SPDX-License-Identifier: MIT

shared-libs += rkmm
rkmm-srcs := lib/error.c lib/sys.c lib/device.c lib/op_info.c lib/buffer.c lib/plan.c lib/epilogue.c lib/pool.c lib/pack.c lib/pack_b.c lib/detile.c lib/finish.c \
	lib/in_place.c lib/kernels.c lib/kernels_plain.c lib/kernels_vec.c lib/kernels_avx2.c \
	lib/half.c lib/weights.c lib/rkw.c lib/weights_file.c lib/submit.c lib/context.c lib/matmul.c
rkmm-version := 1.0.0
rkmm-map := lib/rkmm.map
rkmm-headers := lib/rkmm.h uapi/rkmm_drm.h
rkmm-pc := lib/librkmm.pc.in
# as below
rkmm-cflags := -O3 -ffp-contract=off
rkmm-ldlibs := -ldrm -lz -lpthread

# -O3 for vector code; no contraction, so that every machine computes the same bits
shared-libs += rkmm-compute
rkmm-compute-srcs := lib/compute/quantise.c lib/compute/clip.c lib/compute/hadamard.c \
	$(addprefix lib/compute/,seq.c seq_place.c seq_build.c seq_ready.c attention.c \
	transpose.c)
rkmm-compute-version := 1.0.0
rkmm-compute-map := lib/rkmm-compute.map
rkmm-compute-headers := lib/rkmm_compute.h lib/rkmm_seq.h
rkmm-compute-pc := lib/librkmm-compute.pc.in
rkmm-compute-cflags := -O3 -ffp-contract=off
rkmm-compute-shlibs := rkmm
rkmm-compute-ldlibs := -lm

host-bins += rkmm-example
rkmm-example-srcs := lib/example.c
rkmm-example-shlibs := rkmm
# the library of C++ inside: a board may have none
host-bins += rkmm-example-cxx
rkmm-example-cxx-srcs := lib/example.cc
rkmm-example-cxx-shlibs := rkmm
rkmm-example-cxx-ldlibs := -static-libstdc++ -static-libgcc

# The headers must suit C++ too. Checked where there is a C++ compiler.
ifneq ($(shell command -v g++),)
host: build/host/bin/rkmm-cxx-check
build/host/bin/rkmm-cxx-check: selftests/unit/test_lib_cxx.cc lib/rkmm.h uapi/rkmm_drm.h \
		build/host/lib/librkmm.a | $(lib-headers)
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)g++ -std=c++17 $(CFLAGS) -Wall -Wextra $(WERROR) -Iuapi -I. -isystem build/include \
		-isystem build/include/drm -o $@ $< build/host/lib/librkmm.a -ldrm -lz
	$(Q)$@
endif
