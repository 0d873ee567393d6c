/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Software NPU: executes RK3588 register-command programs word by word.
 *
 * An independent reading of the hardware documents: nothing here may come from
 * the driver's program synthesis. The code is pure C without libc, compiled
 * into rkmm_soft.ko and into a host library. Everything it needs from outside
 * arrives through struct npu_env.
 */
#ifndef NPU_MODEL_H
#define NPU_MODEL_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef __INT8_TYPE__ s8;
typedef __INT16_TYPE__ s16;
typedef __INT32_TYPE__ s32;
typedef __INT64_TYPE__ s64;
#endif

/**
 * struct npu_env - what a core sees of the world
 * @ctx: passed to every callback
 * @read: copy @len bytes from device address @addr; 0, or -1 with the first
 *	address that could not be read in @fault
 * @write: copy @len bytes to device address @addr; same result
 * @relax: called between bounded pieces of work, outside of @fp_begin/@fp_end;
 *	true asks the core to stop at once (reset, removal)
 * @fp_begin: opens a section that may use floating point or vectors; the core
 *	keeps each section bounded and calls nothing else inside it
 * @fp_end: closes it
 * @buffer: first address of the buffer that holds @addr, for the quirks that go by
 *	buffer; outside of @fp_begin/@fp_end
 * @pace: called when a task has done its work, before anybody can see its end; true
 *	asks the core to stop
 *
 * @relax, @fp_begin, @fp_end and @pace may be NULL, and @buffer: then every address is
 * a buffer of its own.
 */
struct npu_env {
	void *ctx;
	int (*read)(void *ctx, u32 addr, void *dst, u32 len, u32 *fault);
	int (*write)(void *ctx, u32 addr, const void *src, u32 len, u32 *fault);
	bool (*relax)(void *ctx);
	void (*fp_begin)(void *ctx);
	void (*fp_end)(void *ctx);
	u32 (*buffer)(void *ctx, u32 addr);
	bool (*pace)(void *ctx);
};

/**
 * enum npu_class - effect of a program on the outside, hw 03 §0
 * @NPU_OK: executed as documented
 * @NPU_STALE: the output keeps its earlier content, status good
 * @NPU_ZERO: the output is all zero, status good
 * @NPU_ROWS: some rows are garbage, status good
 * @NPU_WRONG: deterministic wrong numbers, status good
 * @NPU_HANG_0: no task ever runs
 * @NPU_HANG_P: some tasks run, then the core stops
 * @NPU_FAULT: a device address could not be translated; the core waits
 * @NPU_STOPPED: npu_env.relax asked for it
 */
enum npu_class {
	NPU_OK,
	NPU_STALE,
	NPU_ZERO,
	NPU_ROWS,
	NPU_WRONG,
	NPU_HANG_0,
	NPU_HANG_P,
	NPU_FAULT,
	NPU_STOPPED,
};

/**
 * struct npu_report - how a run went
 * @cls: worst class met
 * @law: the broken law with its place in the sheets, or NULL; a constant string
 * @task: index of the task that met it
 * @tasks_done: tasks that ended
 * @fault_addr: device address, with %NPU_FAULT
 * @fault_write: the faulting access was a write
 * @unknown_regs: writes to registers that no document names
 * @stale_kicks: 1 if lines of the feature came from an earlier kick
 * @lost_kicks: 1 if lines of the output were lost
 * @macs: multiply-accumulates executed
 * @read_bytes: bytes fetched (programs, feature, weight)
 * @write_bytes: bytes written
 * @model_ns: time that the tasks that ended take by the law, had one, two or three
 *	cores work
 */
struct npu_report {
	enum npu_class cls;
	const char *law;
	u32 task;
	u32 tasks_done;
	u32 fault_addr;
	bool fault_write;
	u32 unknown_regs;
	u32 stale_kicks;
	u32 lost_kicks;
	u64 macs;
	u64 read_bytes;
	u64 write_bytes;
	u64 model_ns[3];
};

/* Core-private storage is one opaque block of this size, given by the caller. */
#define NPU_CORE_BYTES	(6u << 20)

struct npu_core;
struct npu_time_law;

/**
 * npu_core_init() - set up a core in caller-provided memory, as after reset
 * @mem: NPU_CORE_BYTES bytes, 64-byte aligned, zeroing not needed
 * @index: core number, 0..2
 * @env: callbacks; must outlive the core
 */
struct npu_core *npu_core_init(void *mem, u32 index, const struct npu_env *env);

/**
 * npu_core_reset() - srst_a and srst_h: registers, groups and CBUF forgotten
 * @core: the core; not running
 */
void npu_core_reset(struct npu_core *core);

/**
 * npu_core_read() - register read as seen by the CPU
 * @core: the core
 * @offset: from the start of the core's window
 *
 * Callable in any context and concurrently with npu_core_run() on another CPU:
 * PC block state is kept in single words.
 */
u32 npu_core_read(struct npu_core *core, u32 offset);

/**
 * npu_core_write() - register write by the CPU
 * @core: the core
 * @offset: from the start of the core's window
 * @value: value
 *
 * Return: true when the write started the core (rising PC_OP_EN with a program
 * address in PC mode): the caller then arranges for npu_core_run() in a
 * context that may compute.
 */
bool npu_core_write(struct npu_core *core, u32 offset, u32 value);

/**
 * npu_core_run() - execute the tasks that were started
 * @core: the core
 * @after_task: called after every task, once its interrupt bits are raw; may be
 *	NULL. Returning true stops the run.
 * @arg: passed on
 * @report: filled
 */
void npu_core_run(struct npu_core *core, bool (*after_task)(void *arg, u32 task),
		  void *arg, struct npu_report *report);

/**
 * npu_core_irq() - level of the core's interrupt line: raw status & mask
 * @core: the core
 */
bool npu_core_irq(struct npu_core *core);

/**
 * npu_core_set_laws() - what a broken law does
 * @core: the core
 * @strict: true reports and refuses: the run ends at this task with its law and
 *	class in the report, nothing of the task is written, and the core stays
 *	busy. False executes with the documented wrong result where there is one,
 *	and reports law and class as well. A hang is one either way.
 */
void npu_core_set_laws(struct npu_core *core, bool strict);

/**
 * npu_core_set_error_bits() - whether a refused access raises bit 12 or 13
 * @core: the core
 * @raise: true raises the read or write error bit of the raw status. The sheets
 *	never saw one on an IOMMU fault, so a core starts with false.
 */
void npu_core_set_error_bits(struct npu_core *core, bool raise);

/**
 * enum npu_quirk - misbehaviour that is measured but follows no law of hw 02
 * @NPU_QUIRK_NARROW_K: int8 output of a matmul with K below 512 is wrong (G26)
 * @NPU_QUIRK_FEATURE_CACHE: feature buffers that change from kick to kick (S2, M3)
 * @NPU_QUIRK_OUTPUT_MOVE: output buffers that change, with several cores (M4)
 * @NPU_QUIRK_INT8_WEDGE: a kick that begins with an int8 task of the DPU alone
 *	hangs if the kick before had an int8 matmul (O14, hw 04 §4)
 * @NPU_QUIRK_TRANSITION: from the first int4 matmul after an int8 one on, or the other way
 *	round, matmuls of K of at least 2560 are wrong, until a reset (S7, hw 03 §2.4)
 * @NPU_QUIRK_UNTOUCHED: a matmul hangs until one of int8 has run since power-on (S5)
 * @NPU_QUIRK_COLD: the first kick with matmuls of a number of bits since power-on or a reset
 *	writes nothing (S1, S4, S6)
 * @NPU_QUIRK_DIE_235: int4 batches of K = 2048 hang above 4 rows or 64 columns (hw 03 §1.7)
 * @NPU_QUIRK_DIE_236: those hang above 64 columns with one data bank (G19), and are wrong above
 *	8 rows a bank
 * @NPU_QUIRK_WIDE_WRONG: int4 batches with several data banks are wrong, at no loss of speed
 */
enum npu_quirk {
	NPU_QUIRK_NARROW_K = 1 << 0,
	NPU_QUIRK_FEATURE_CACHE = 1 << 1,
	NPU_QUIRK_OUTPUT_MOVE = 1 << 2,
	NPU_QUIRK_INT8_WEDGE = 1 << 3,
	NPU_QUIRK_TRANSITION = 1 << 4,
	NPU_QUIRK_UNTOUCHED = 1 << 5,
	NPU_QUIRK_COLD = 1 << 6,
	NPU_QUIRK_DIE_235 = 1 << 7,
	NPU_QUIRK_DIE_236 = 1 << 8,
	NPU_QUIRK_WIDE_WRONG = 1 << 9,
};

/**
 * npu_core_set_quirks() - switch quirks of hw 03 §1 on
 * @core: the core
 * @quirks: bits of enum npu_quirk; none after npu_core_init()
 *
 * NARROW_K is reported and takes effect like a broken law. The others are nothing
 * that a program does wrong: the result is, whether or not laws are strict.
 */
void npu_core_set_quirks(struct npu_core *core, u32 quirks);

/**
 * npu_core_set_peers() - whether the next run has company
 * @core: the core
 * @peers: another core ran when this one was started
 */
void npu_core_set_peers(struct npu_core *core, bool peers);

/**
 * npu_core_set_seed() - seed of what the hardware leaves to chance
 * @core: the core
 * @seed: how much of a table is there when a task starts too early (hw 03 S11)
 */
void npu_core_set_seed(struct npu_core *core, u32 seed);

/**
 * npu_core_set_compute() - whether products are computed
 * @core: the core
 * @on: true after npu_core_init(). false: operands are fetched, checked and
 *	refused as ever, but every accumulator stays zero
 */
void npu_core_set_compute(struct npu_core *core, bool on);

/**
 * npu_core_set_time() - constants of npu_report.model_ns
 * @core: the core
 * @law: must outlive the core; those of npu_time_profile("default") after npu_core_init()
 */
void npu_core_set_time(struct npu_core *core, const struct npu_time_law *law);

/**
 * npu_core_ns() - time of the run in progress up to the end of its present task
 * @core: the core; for npu_env.pace
 * @cores: that have work, 1..3
 */
u64 npu_core_ns(const struct npu_core *core, u32 cores);

/** npu_core_power_off() - after npu_core_reset(): the power was gone */
void npu_core_power_off(struct npu_core *core);

/**
 * npu_core_set_late() - whether the end of narrow output comes late (hw 03 O13)
 * @core: the core; not running
 * @late: the last bytes of a job whose results have fewer than four bytes stay out of
 *	memory until npu_core_land(), or until the core reads or writes anything else
 */
void npu_core_set_late(struct npu_core *core, bool late);

/**
 * npu_core_land() - what is late arrives
 * @core: the core; not running
 *
 * Return: something was, and it could be written.
 */
bool npu_core_land(struct npu_core *core);

/**
 * npu_core_has_late() - whether something is late
 * @core: the core; not running
 */
bool npu_core_has_late(const struct npu_core *core);

/**
 * npu_class_name() - the class as hw 03 §0 spells it
 * @cls: class
 */
const char *npu_class_name(enum npu_class cls);

#endif
