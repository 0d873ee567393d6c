# SPDX-License-Identifier: MIT

fake-kernel := selftests/unit/fake_kernel.c selftests/unit/fake_ops.c

host-tests += test_lib_pack
test_lib_pack-srcs := selftests/unit/test_lib_pack.c
test_lib_pack-libs := rkmm

host-tests += test_prog_emit
test_prog_emit-srcs := selftests/unit/test_prog_emit.c
test_prog_emit-libs := prog

host-tests += test_lib_device
test_lib_device-srcs := selftests/unit/test_lib_device.c $(fake-kernel)
test_lib_device-libs := rkmm
test_lib_device-ldlibs := -lm -lpthread

host-tests += test_lib_submit
test_lib_submit-srcs := selftests/unit/test_lib_submit.c $(fake-kernel)
test_lib_submit-libs := rkmm
test_lib_submit-ldlibs := -lm -lpthread

host-tests += test_lib_slices
test_lib_slices-srcs := selftests/unit/test_lib_slices.c $(fake-kernel)
test_lib_slices-libs := rkmm
test_lib_slices-ldlibs := -lm -lpthread

host-tests += test_modes
test_modes-srcs := selftests/unit/test_modes.c
test_modes-libs := prog

host-tests += test_estimate
test_estimate-srcs := selftests/unit/test_estimate.c
test_estimate-libs := prog

host-tests += test_envelope
test_envelope-srcs := selftests/unit/test_envelope.c
test_envelope-libs := prog

host-tests += test_known
test_known-srcs := selftests/unit/test_known.c
test_known-libs := prog model
test_known-ldlibs := -lm

host-tests += test_probe
test_probe-srcs := selftests/unit/test_probe.c
test_probe-libs := prog model
test_probe-ldlibs := -lm

host-tests += test_policy
test_policy-srcs := selftests/unit/test_policy.c
test_policy-libs := prog

host-tests += test_ranges
test_ranges-srcs := selftests/unit/test_ranges.c kmod/rkmm_ranges.c

host-tests += test_overlap
test_overlap-srcs := selftests/unit/test_overlap.c kmod/rkmm_overlap.c

# sources of the driver over as much of the kernel as they need
host-tests += test_space test_slab
test_space-srcs := selftests/unit/test_space.c
test_space-cflags := -Iselftests/unit/kernel -Wno-sign-compare
test_slab-srcs := selftests/unit/test_slab.c
test_slab-cflags := -Iselftests/unit/kernel -Wno-sign-compare

host-tests += test_transpose
test_transpose-srcs := selftests/unit/test_transpose.c
test_transpose-libs := rkmm-compute rkmm
test_transpose-ldlibs := -lm -lpthread

host-tests += test_step_choice
test_step_choice-srcs := selftests/unit/test_step_choice.c kmod/rkmm_step.c

host-tests += test_step_rows
test_step_rows-srcs := selftests/unit/test_step_rows.c kmod/rkmm_step.c
test_step_rows-libs := prog model
test_step_rows-ldlibs := -lm

host-tests += test_step
test_step-srcs := selftests/unit/test_step.c kmod/rkmm_step.c
test_step-libs := prog model
test_step-ldlibs := -lm

host-tests += test_step_fused
test_step_fused-srcs := selftests/unit/test_step_fused.c kmod/rkmm_step.c
test_step_fused-libs := prog model
test_step_fused-ldlibs := -lm

host-tests += test_step_once
test_step_once-srcs := selftests/unit/test_step_once.c kmod/rkmm_step.c

host-tests += test_step_ranges
test_step_ranges-srcs := selftests/unit/test_step_ranges.c kmod/rkmm_step.c
test_step_ranges-libs := prog model
test_step_ranges-ldlibs := -lm

host-tests += test_prog_geometry
test_prog_geometry-srcs := selftests/unit/test_prog_geometry.c
test_prog_geometry-libs := prog

host-tests += test_prog_op_words test_prog_op_steps test_prog_op_any test_prog_op_lut
test_prog_op_steps-srcs := selftests/unit/test_prog_op_steps.c
test_prog_op_steps-libs := prog
test_prog_op_any-srcs := selftests/unit/test_prog_op_any.c
test_prog_op_any-libs := prog
test_prog_op_words-srcs := selftests/unit/test_prog_op_words.c
test_prog_op_words-libs := prog
test_prog_op_lut-srcs := selftests/unit/test_prog_op_lut.c
test_prog_op_lut-libs := prog
test_prog_op_lut-ldlibs := -lm

host-tests += test_prog_epilogue test_prog_epilogue_words
test_prog_epilogue-srcs := selftests/unit/test_prog_epilogue.c
test_prog_epilogue-libs := prog model
test_prog_epilogue-ldlibs := -lm
test_prog_epilogue_words-srcs := selftests/unit/test_prog_epilogue_words.c
test_prog_epilogue_words-libs := prog model
test_prog_epilogue_words-ldlibs := -lm

host-tests += test_prog_op_facts
test_prog_op_facts-srcs := selftests/unit/test_prog_op_facts.c
test_prog_op_facts-libs := prog

host-tests += test_prog_op_model test_prog_op_curve test_prog_op_row test_prog_op_chain
test_prog_op_curve-srcs := selftests/unit/test_prog_op_curve.c
test_prog_op_curve-libs := prog model
test_prog_op_curve-ldlibs := -lm
test_prog_op_row-srcs := selftests/unit/test_prog_op_row.c
test_prog_op_row-libs := prog model
test_prog_op_row-ldlibs := -lm
test_prog_op_chain-srcs := selftests/unit/test_prog_op_chain.c
test_prog_op_chain-libs := prog model
test_prog_op_chain-ldlibs := -lm
test_prog_op_model-srcs := selftests/unit/test_prog_op_model.c
test_prog_op_model-libs := prog model
test_prog_op_model-ldlibs := -lm

host-tests += test_prog_choice
test_prog_choice-srcs := selftests/unit/test_prog_choice.c
test_prog_choice-libs := prog
test_prog_choice-ldlibs := -lm

host-tests += test_prog_regret
test_prog_regret-srcs := selftests/unit/test_prog_regret.c
test_prog_regret-libs := prog
test_prog_regret-ldlibs := -lm

host-tests += test_prog_chain
test_prog_chain-srcs := selftests/unit/test_prog_chain.c
test_prog_chain-libs := prog
test_prog_chain-ldlibs := -lm

host-tests += test_prog_patch
test_prog_patch-srcs := selftests/unit/test_prog_patch.c
test_prog_patch-libs := prog

host-tests += test_prog_land
test_prog_land-srcs := selftests/unit/test_prog_land.c
test_prog_land-libs := prog model
test_prog_land-ldlibs := -lm

host-fuzzers += fuzz_prog_geometry
fuzz_prog_geometry-srcs := selftests/unit/fuzz_prog_geometry.c
fuzz_prog_geometry-libs := prog

host-tests += test_prog_fuzz
test_prog_fuzz-srcs := selftests/unit/test_prog_fuzz.c
test_prog_fuzz-libs := prog

host-tests += test_matmul_npy
test_matmul_npy-srcs := selftests/unit/test_matmul_npy.c tools/matmul/npy.c

host-tests += test_matmul_tool
test_matmul_tool-srcs = selftests/unit/test_matmul_tool.c $(fake-kernel) \
	$(rkmm-matmul-parts)
test_matmul_tool-libs := rkmm rkmm-compute
test_matmul_tool-ldlibs := -lm -lpthread

host-tests += test_prog_model
test_prog_model-srcs := selftests/unit/test_prog_model.c
test_prog_model-libs := prog model
test_prog_model-ldlibs := -lm

host-tests += test_model_time
test_model_time-srcs := selftests/unit/test_model_time.c
test_model_time-libs := prog model
test_model_time-ldlibs := -lm

# rkmm-replay
host-tests += test_replay_points
test_replay_points-srcs := selftests/unit/test_replay_points.c tools/replay/call.c
test_replay_points-libs := model
test_replay_points-ldlibs := -lm
host-tests += test_replay test_replay_json
test_replay-srcs = selftests/unit/test_replay.c $(rkmm-replay-parts)
test_replay-libs := prog model
test_replay-ldlibs := -ljansson
test_replay_json-srcs = selftests/unit/test_replay_json.c selftests/unit/json_schema.c \
	$(rkmm-replay-parts)
test_replay_json-libs := prog model
test_replay_json-ldlibs := -ljansson

# rkmm-trace
host-tests += test_trace
test_trace-srcs = selftests/unit/test_trace.c selftests/unit/json_schema.c $(rkmm-trace-parts)
test_trace-ldlibs := -ljansson

# rkmm-top
host-tests += test_top
test_top-srcs = selftests/unit/test_top.c selftests/unit/json_schema.c $(rkmm-top-parts)
test_top-ldlibs := -ljansson -lncurses -ltinfo -lutil
host-tests += test_resets
test_resets-srcs = selftests/unit/test_resets.c selftests/unit/json_schema.c $(rkmm-top-parts)
test_resets-ldlibs := -ljansson -lncurses -ltinfo

host-tests += test_prog_group
test_prog_group-srcs := selftests/unit/test_prog_group.c
test_prog_group-libs := prog model
test_prog_group-ldlibs := -lm

host-tests += test_prog_broken
test_prog_broken-srcs := selftests/unit/test_prog_broken.c
test_prog_broken-libs := prog model
test_prog_broken-ldlibs := -lm

host-tests += test_prog_fallback
test_prog_fallback-srcs := selftests/unit/test_prog_fallback.c
test_prog_fallback-libs := prog model
test_prog_fallback-ldlibs := -lm

host-tests += test_dump
test_dump-srcs := selftests/unit/test_dump.c

host-tests += test_regcmd
test_regcmd-srcs := selftests/unit/test_regcmd.c

host-tests += test_compute
test_compute-srcs := selftests/unit/test_compute.c
test_compute-libs := rkmm-compute
test_compute-cflags := -ffp-contract=off
test_compute-ldlibs := -lm

# the software NPU
test_model-rig := $(addprefix selftests/unit/,test_model_rig.c test_model_data.c test_model_blocks.c)
host-tests += test_model_matmul test_model_layout test_model_mesa test_model_chain test_model_pc \
	test_model_laws test_model_num test_model_random test_model_dpu \
	test_model_stale test_model_lut test_model_softmax test_model_pool \
	test_model_fused test_model_dpu_laws
test_model-cubes := $(test_model-rig) selftests/unit/test_model_cube.c
test_model_dpu-srcs := selftests/unit/test_model_dpu.c $(test_model-cubes)
test_model_dpu-libs := model
test_model_dpu-ldlibs := -lm
test_model_lut-srcs := selftests/unit/test_model_lut.c $(test_model-cubes)
test_model_lut-libs := model
test_model_lut-ldlibs := -lm
test_model_softmax-srcs := selftests/unit/test_model_softmax.c $(test_model-cubes)
test_model_softmax-libs := model
test_model_softmax-ldlibs := -lm
test_model_pool-srcs := selftests/unit/test_model_pool.c $(test_model-cubes)
test_model_pool-libs := model
test_model_pool-ldlibs := -lm
test_model_fused-srcs := selftests/unit/test_model_fused.c $(test_model-cubes)
test_model_fused-libs := model
test_model_fused-ldlibs := -lm
test_model_dpu_laws-srcs := selftests/unit/test_model_dpu_laws.c $(test_model-cubes)
test_model_dpu_laws-libs := model
test_model_dpu_laws-ldlibs := -lm
test_model_matmul-srcs := selftests/unit/test_model_matmul.c $(test_model-rig)
test_model_matmul-libs := model
test_model_matmul-ldlibs := -lm
test_model_layout-srcs := selftests/unit/test_model_layout.c $(test_model-rig)
test_model_layout-libs := model
test_model_layout-ldlibs := -lm
test_model_mesa-srcs := selftests/unit/test_model_mesa.c $(test_model-rig)
test_model_mesa-libs := model
test_model_mesa-ldlibs := -lm
test_model_chain-srcs := selftests/unit/test_model_chain.c $(test_model-rig)
test_model_chain-libs := model
test_model_chain-ldlibs := -lm
test_model_pc-srcs := selftests/unit/test_model_pc.c $(test_model-rig)
test_model_pc-libs := model
test_model_pc-ldlibs := -lm
test_model_laws-srcs := selftests/unit/test_model_laws.c $(test_model-rig)
test_model_laws-libs := model
test_model_laws-ldlibs := -lm
test_model_num-srcs := selftests/unit/test_model_num.c $(test_model-rig)
test_model_num-libs := model
test_model_num-ldlibs := -lm
test_model_stale-srcs := selftests/unit/test_model_stale.c $(test_model-rig)
test_model_stale-libs := model
test_model_stale-ldlibs := -lm
test_model_random-srcs := selftests/unit/fuzz_model.c $(test_model-cubes)
test_model_random-cflags := -DRANDOM_DRIVER=2000
test_model_random-libs := model
test_model_random-ldlibs := -lm
host-fuzzers += fuzz_model
fuzz_model-srcs := selftests/unit/fuzz_model.c $(test_model-cubes)
fuzz_model-libs := model
fuzz_model-ldlibs := -lcmocka -lm

host-fuzzers += fuzz_npy
fuzz_npy-srcs := selftests/unit/fuzz_npy.c tools/matmul/npy.c

host-tests += test_lib_rkw
test_lib_rkw-srcs = selftests/unit/test_lib_rkw.c $(fake-kernel) \
	$(rkmm-weights-parts)
test_lib_rkw-libs := rkmm rkmm-compute prog
test_lib_rkw-ldlibs := -lz -lm -lpthread
host-fuzzers += fuzz_rkw
fuzz_rkw-srcs := selftests/unit/fuzz_rkw.c lib/rkw.c
fuzz_rkw-ldlibs := -lz

# rkmm-bench
host-tests += test_bench test_bench_trace
test_bench-srcs = selftests/unit/test_bench.c $(fake-kernel) $(rkmm-bench-parts)
test_bench-libs := rkmm rkmm-compute prog
test_bench-ldlibs := -lm -lpthread
test_bench_trace-srcs := selftests/unit/test_bench_trace.c tools/bench/trace.c \
	tools/bench/breakdown.c tools/bench/stats.c

host-tests += test_lib_threads
test_lib_threads-srcs := selftests/unit/test_lib_threads.c $(fake-kernel)
test_lib_threads-libs := rkmm
test_lib_threads-ldlibs := -lm -lpthread

host-tests += test_seq test_seq_refused test_seq_place
test_seq-srcs := selftests/unit/test_seq.c $(fake-kernel)
test_seq-libs := rkmm-compute rkmm
test_seq-ldlibs := -lm -lpthread
test_seq_refused-srcs := selftests/unit/test_seq_refused.c $(fake-kernel)
test_seq_refused-libs := rkmm-compute rkmm
test_seq_refused-ldlibs := -lm -lpthread
test_seq_place-srcs := selftests/unit/test_seq_place.c lib/compute/seq_place.c

host-tests += test_regcmd_chain
test_regcmd_chain-srcs := selftests/unit/test_regcmd_chain.c
