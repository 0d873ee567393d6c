# SPDX-License-Identifier: MIT
# Every C file here is one guest test; what they share is rkmm_test.c, rkmm_mm.c and
# rkmm_desk.c.
guest-progs := $(filter-out rkmm_test rkmm_mm rkmm_desk,$(patsubst selftests/%.c,%,$(sort $(wildcard selftests/*.c))))
guest-tests += $(guest-progs)
define guest-prog
$(1)-srcs := selftests/$(1).c selftests/rkmm_test.c selftests/rkmm_mm.c selftests/rkmm_desk.c
$(1)-ldlibs := -static -pthread -lm
endef
$(foreach p,$(guest-progs),$(eval $(call guest-prog,$(p))))
lib_kernels-srcs := selftests/lib_kernels.c $(addprefix lib/,kernels.c kernels_plain.c kernels_vec.c \
	kernels_avx2.c)
# what uses the libraries as applications do
guest-tests += seq
seq-srcs := selftests/lib/seq.c selftests/rkmm_test.c selftests/rkmm_mm.c
seq-shlibs := rkmm-compute rkmm
seq-ldlibs := -rdynamic -lm

guest-scripts += $(sort $(wildcard selftests/*.sh))
guest-helpers += selftests/driver.inc

# one window that can be filled; windows to be switched; deadlines that are waited for a dozen times
bo-vboard := --rkmm-args "window_mib=64 windows=1 isolation=strict"
# every reset that the chip may need; modes_warm.sh has the other half
modes-vboard := --rkmm-args transitions=table
# what the table resets for, on proof instead; what comes first on a core, warmup_off.sh has the other half
proof-vboard := --rkmm-args transitions=prove
warmup-vboard := --rkmm-args "warmup=on timeout_factor=1"
fair-vboard := --rkmm-args isolation=strict
# the faults are for jobs of clients; ladder has those that meet the driver's own
fault-vboard := --rkmm-args "timeout_factor=1 golden=N suspect=N"
ladder-vboard := --soft-args time_scale=1000 --rkmm-args timeout_factor=1
# what hangs on purpose costs its deadline
recover-vboard := --soft-args time_scale=1000 --rkmm-args "timeout_factor=1 golden=N suspect=N"
chain-vboard := --rkmm-args "timeout_factor=1 golden=N suspect=N"
# what the driver keeps in a window for itself
windows-vboard := --rkmm-args landing=trailer
# everything narrow is waited for; landing_off.sh has the other half
landing-vboard := --rkmm-args "landing=both settle_us=100000"
# small ranges for operands too large; stage_direct.sh has the other half
stage-vboard := --rkmm-args "feature=fixed window_mib=128 timeout_factor=1 warmup=on golden=N suspect=N fallback=N"
stage_ops-vboard := --rkmm-args feature=fixed
# against plain loops with everything staged
epilogue-vboard := --rkmm-args feature=fixed
# programs are counted, and trailers are none that anybody asked for
soak-vboard := --rkmm-args landing=off
# hangs cost their deadline, and the kit loads the driver as a board would
bringup.sh-vboard := --soft-args time_scale=1000
# by the profile wide geometries are there
probe-vboard := --rkmm-args die=default
