/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside of the software NPU: a core's memory and the steps of a task. */
#ifndef NPU_CORE_H
#define NPU_CORE_H

#include "npu_model.h"
#include "npu_regs.h"
#include "npu_shim.h"
#include "npu_time.h"

#define ATOM			16u
#define BANK			32768u
#define BANKS			12u
#define K_MAX			10752u
#define N_MAX			8192u
#define K_TILE			32u
#define TILE_BYTES		1024u

/* Kernels in the widest group; a group's operands are 32-bit words */
#define GROUP_MAX		64u
#define OPERAND_W_WORDS		(GROUP_MAX * K_MAX)
/* Eleven data banks, unpacked: fp16 to fp32 and int4 to bytes both double */
#define OPERAND_A_BYTES		(11u * BANK * 2u)
#define STAGE_VALUES		(256u * 1024u)
#define FETCH_ENTRIES		2048u
#define RUN_BYTES		65536u
/* Multiply-accumulates in one fp_begin/fp_end section */
#define SECTION_MACS		1048576u
/* Buffers a core has lines of, and bytes of each; a bit per atom in 64 bits */
#define STALE_BUFFERS		16u
#define STALE_LINE		64u
#define STALE_BYTES		1024u

#define LUT_ENTRIES		513u
#define LUT_NO_TASK		0xffffffffu

enum npu_block_id {
	BLK_CNA,
	BLK_CORE,
	BLK_DPU,
	BLK_DPU_RDMA,
	BLK_PPU,
	BLK_PPU_RDMA,
	BLK_COUNT,
	BLK_NONE = BLK_COUNT,
};

/**
 * struct npu_block - a block with its two register groups, hw 02 §1.4, hw 04 §0.5
 * @reg: raw values as written, by group and (offset & 0xfff) / 4; never cleared
 *	between tasks
 * @mode: the mode bits of S_POINTER as last written
 * @pointer: group that writes go to
 * @executer: group that runs next
 * @enabled: groups that a start entry has handed to the executer
 * @programmed: groups that were written since reset
 */
struct npu_block {
	u32 reg[2][1024];
	u32 mode;
	u32 pointer;
	u32 executer;
	bool enabled[2];
	bool programmed[2];
};

/* What happens to the values of a task whose program breaks a law. */
enum npu_effect {
	EFFECT_NATURAL,		/* the arithmetic below shows it by itself */
	EFFECT_ZERO,
	EFFECT_GARBAGE,
	EFFECT_HANG,
};

/**
 * struct npu_type - an input type
 * @code: precision code
 * @bits: of an element
 * @group: kernels in a group, hw 02 §3.5
 */
struct npu_type {
	u32 code;
	u32 bits;
	u32 group;
};

static inline const struct npu_type *npu_type_find(const struct npu_type *types, u32 n, u32 code)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (types[i].code == code)
			return &types[i];
	return NULL;
}

/*
 * struct npu_conv - a matmul task read from the register groups that run it
 *
 * Sizes are counts, not counts minus one. Nothing here is derived from a shape:
 * every field names the register it comes from.
 */
struct npu_conv {
	const struct npu_core *core;
	const u32 *cna, *cor, *dpu, *rdma;	/* running groups; rdma NULL: not started */
	const struct npu_type *type;		/* NULL: no such input type */

	/* CNA */
	u32 in_prec, proc_prec;			/* 100c */
	bool group_lines;			/* 100c bit 29 clear */
	u32 image_channels;			/* 100c: of a packed image, 0: cube */
	u32 w, h;				/* 1020 */
	u32 k, k_real;				/* 1024 */
	u32 kernels;				/* 1038 */
	u32 data_banks, weight_banks, fc_banks;	/* 1040 */
	bool data_reuse, weight_reuse;		/* 1040 */
	u32 entries;				/* 1044 */
	u32 pad_top, pad_left, pad_value;	/* 1068, 1184 */
	u32 a, b;				/* 1070, 1110 plus DMA base */
	u32 line_stride;			/* 107c, atoms */
	s32 surf_stride;			/* 1080, atoms, signed */

	/* CORE */
	u32 core_prec;				/* 3010 */
	bool qd_en;				/* 3010 */
	u32 core_w, core_h, core_n;		/* 3014, 3018 */
	u32 truncate;				/* 301c */

	/* DPU */
	u32 out_prec, dpu_in_prec, dpu_proc_prec;	/* 4010 */
	u32 bs_neg_shift, bn_neg_shift;		/* 4010 */
	s32 pend;				/* 4014 */
	u32 c;					/* 4020 plus DMA base */
	u32 dst_surf, surf_add;			/* 4024, 40c0 */
	u32 ow, oh;				/* 4030, 4034 */
	u32 notch0, notch1;			/* 4038 */
	u32 n, n_orig;				/* 403c */
	u32 size_e[3];				/* 4050: first, middle, last line */
	bool od_bypass, ow_src;			/* 4050 */
	s32 ow_op;				/* 4054 */
	u32 wdma_n, rect_w, rect_h;		/* 4058, 405c */
	u32 bs_cfg, bn_cfg, ew_cfg;
	bool to_fp16;				/* 4084 bit 16 */

	/* worked out */
	u32 out_bytes;				/* of an output element */
	u32 pixels;				/* ow * oh */
	u32 pixel_bytes;			/* of one input pixel, whole atoms */
	u32 step_atoms;				/* from one channel atom to the next */
	u32 groups;				/* kernel groups written */
	bool single_rect;			/* 1x1 write rectangle over a taller cube */
	bool sparse_lines;			/* int4 batch: one line in four is defined */
	u32 row_step;				/* pixels per stored row: 1, or 4 */
	u32 rows;				/* rows of A that the data banks hold */
	bool is_float;
	enum npu_effect effect;
	bool poisoned;			/* a mode was entered the wrong way: no value is right */
};

/**
 * struct npu_resident - what a task leaves in CBUF for the next one
 * @valid: something was loaded since reset
 * @addr: device address it came from
 * @bytes: its length in memory
 * @prec: precision code
 * @k: channels
 * @rows: rows (feature) or kernels (weight)
 */
struct npu_resident {
	bool valid;
	u32 addr;
	u32 bytes;
	u32 prec;
	u32 k;
	u32 rows;
};

/**
 * struct npu_held - first lines of a feature buffer as an earlier kick found them
 * @kick: which, counted from 1; 0: nothing is held
 * @buffer: the buffer
 * @addr: device address of the first byte
 * @atoms: bit per atom that was read
 * @data: what was there
 */
struct npu_held {
	u64 kick;
	u32 buffer;
	u32 addr;
	u64 atoms;
	u8 data[STALE_BYTES];
};

/**
 * struct npu_served - lines that the kick in progress reads instead of memory
 * @addr: device address
 * @bytes: how many, 0: none
 * @atoms: bit per atom, others are read from memory
 * @data: what is read
 */
struct npu_served {
	u32 addr;
	u32 bytes;
	u64 atoms;
	u8 data[STALE_BYTES];
};

/**
 * struct npu_late - the end of a narrow output, on its way to memory (hw 03 O13)
 * @on: outputs are late
 * @addr: device address
 * @bytes: how many, 0: none
 * @data: what will be written
 */
struct npu_late {
	bool on;
	u32 addr, bytes;
	u8 data[STALE_BYTES];
};

/**
 * struct npu_stale - npu_stale.c
 * @held: by buffer
 * @kick: number of the last one that read a feature
 * @fill: entry of @held that the kick in progress fills
 * @served: what it reads instead of memory
 * @feature_seen: it has read its first feature
 * @output_seen: it has written
 * @output_known: there was a kick with company before
 * @output: the buffer it wrote to
 * @lost_addr: device address of the first byte that the kick in progress loses
 * @lost_bytes: how many
 */
struct npu_stale {
	struct npu_held held[STALE_BUFFERS];
	u64 kick;
	struct npu_held *fill;
	struct npu_served served;
	bool feature_seen;
	bool output_seen;
	bool output_known;
	u32 output;
	u32 lost_addr;
	u32 lost_bytes;
};

/**
 * struct npu_lut - table memory, and how the running task reads it (hw 04 §2.5)
 * @now: LE and LO as written
 * @before: as they were before the list that wrote last
 * @order: place of an entry's last write in that list, from 1; 0: not in it
 * @present: written since reset
 * @loaded: entries present, by table
 * @access: 4100, counting up
 * @writes: entries written by the list that is being read
 * @overrun: that list wrote past the end of a table
 * @load_task: task that wrote last in kick @load_kick, or LUT_NO_TASK
 * @load_kick: see @load_task
 * @random: state of the generator behind @cut
 * @half: the task sees the writes up to @cut only
 * @cut: see @half
 * @cfg: 4108; from here on by table where there are two
 * @select: index bits below an entry
 * @start: first input of the table
 * @end: last one
 * @under_slope: line below @start
 * @over_slope: line above @end
 * @under_shift: right shift of the lower line
 * @over_shift: of the upper one
 */
struct npu_lut {
	s16 now[2][LUT_ENTRIES];
	s16 before[2][LUT_ENTRIES];
	u16 order[2][LUT_ENTRIES];
	bool present[2][LUT_ENTRIES];
	u32 loaded[2];
	u32 access;
	u32 writes;
	bool overrun;
	u32 load_task, load_kick;
	u32 random;
	bool half;
	u32 cut;
	u32 cfg;
	u32 select[2];
	s32 start[2], end[2];
	s32 under_slope[2], over_slope[2];
	u32 under_shift[2], over_shift[2];
};

/**
 * struct npu_dpu - a task of the DPU alone: memory to memory (hw 04 §2.1)
 * @t: the DPU's own registers and its write engine; cna and cor are NULL, the
 *	type's group is the channels of one 16-byte atom
 * @mode: 5044
 * @w: pixels of a line that MRDMA reads
 * @h: lines
 * @n: channels
 * @src: address of that cube
 * @line_pitch: bytes to its next line
 * @surf_pitch: bytes to its next surface
 * @erdma: 5034
 * @two_inputs: EW takes its second operand from memory
 * @ew: address of that operand
 * @ew_line_pitch: as above
 * @ew_surf_pitch: as above
 * @per_channel: one value for each channel, side by side, instead of a cube
 * @bs_use: what BRDMA brings: bits of BRDMA_USE_*
 * @bn_use: the same of NRDMA
 * @minmax: 4034[24:22]
 * @unit_atoms: 400c: atoms that the packed results of the min/max unit fill
 * @raw: operands stay fp16: no conversion to fp32 and back
 * @in_bytes: of an input element
 */
struct npu_dpu {
	struct npu_conv t;
	u32 mode;
	u32 w, h, n;
	u32 src, line_pitch, surf_pitch;
	u32 erdma;
	bool two_inputs;
	u32 ew, ew_line_pitch, ew_surf_pitch;
	bool per_channel;
	u32 bs_use, bn_use;
	u32 minmax;
	u32 unit_atoms;
	bool raw;
	u32 in_bytes;
};

/*
 * struct npu_core - one core
 *
 * Words of type npu_word may be touched by the CPU side and by a running core
 * at the same time; everything else belongs to npu_core_run() while the state
 * is not CORE_IDLE.
 */
struct npu_core {
	/* First, and all multiples of 64 bytes: vectors are loaded from them. */
	u8 operand_a[OPERAND_A_BYTES];
	u32 operand_w[OPERAND_W_WORDS];
	u32 stage[STAGE_VALUES];
	u8 weight_ring[BANKS * BANK];
	u8 run[RUN_BYTES];
	u32 bias[N_MAX];

	const struct npu_env *env;
	const struct npu_time_law *law;
	u32 index;
	bool strict;
	bool error_bits;
	bool no_macs;
	bool peers;
	u32 quirks;

	struct npu_word state;
	struct npu_word raw;
	struct npu_word mask;
	struct npu_word op_en;
	struct npu_word data_addr;
	struct npu_word amount;
	struct npu_word task_con;
	struct npu_word dma_base;
	struct npu_word status;

	struct npu_block blk[BLK_COUNT];
	struct npu_lut lut;

	/* fetch */
	u32 link_addr;
	u32 link_amount;
	bool prefetched;
	u32 prefetch_addr;
	u32 prefetch_entries;
	u32 last_groups[BLK_COUNT];	/* group that ran the last task */
	u32 last_start;

	struct npu_resident feature;
	struct npu_resident weight;
	struct npu_stale stale;
	struct npu_late late;

	/* what ran before; forgotten at a reset */
	u32 kicks;
	u32 conv_task;			/* last matmul of this kick, or LUT_NO_TASK */
	u32 conv_out;			/* its output precision */
	bool int8_left;			/* the kick before ran an int8 matmul */
	bool int8_now;			/* so does this one */
	u32 int_bits;			/* of the last matmul of int4 or int8, 0 for none */
	bool crossed;			/* between those two */
	u32 warm_bits;			/* matmuls of so many bits were run by earlier kicks */
	u32 now_bits;			/* and by this one */
	bool cold;			/* it writes nothing */
	bool touched;			/* it ran an int8 matmul since power-on */

	/* of the kick in progress */
	bool pingpong;
	u32 tasks;

	/* of the run in progress */
	struct npu_report *report;
	u32 task;
	u32 kinds_begun;		/* bits of enum npu_kind */
	u64 task_ns[NPU_TIME_CORES];	/* of the task in progress */
	bool narrow;			/* it writes fewer than four bytes a result */

	u64 fetch[FETCH_ENTRIES];
	u64 prefetch[FETCH_ENTRIES];
};

/* npu_core.state */
enum {
	CORE_IDLE,
	CORE_STARTED,
	CORE_DEAD,		/* hung, faulted or stopped; only a reset helps */
};

/* npu_core.c */
bool npu_relax(struct npu_core *core);
enum npu_class npu_read(struct npu_core *core, u32 addr, void *dst, u32 len);
enum npu_class npu_write(struct npu_core *core, u32 addr, const void *src, u32 len);
void npu_reg_write(struct npu_core *core, enum npu_block_id id, u32 offset, u32 value);
void npu_breach(struct npu_core *core, enum npu_class cls, const char *law);
bool npu_stops(enum npu_class cls);
enum npu_class npu_hang(struct npu_core *core, const char *law);
void npu_charge(struct npu_core *core, const struct npu_work *work, u32 out_bytes);

static inline u32 npu_reg(const u32 *group, u32 offset)
{
	return group[(offset & 0xfff) >> 2];
}

/* npu_pc.c */
enum npu_block_id npu_block_of_offset(u32 offset);
bool npu_reg_known(enum npu_block_id id, u32 offset);

/* npu_conv.c */
void npu_conv_decode(struct npu_conv *t, struct npu_core *core, u32 start);
enum npu_class npu_conv_run(struct npu_core *core, u32 start);

/* npu_laws.c: NPU_OK to go on with t->effect, or why the core stops */
enum npu_class npu_laws_check(struct npu_core *core, struct npu_conv *t);
/* npu_die_check() - a hang of this die, or NPU_OK; may poison @t */
enum npu_class npu_die_check(struct npu_core *core, struct npu_conv *t);

u32 npu_out_bytes(u32 code);
void npu_decode_dpu(struct npu_conv *t, u32 dma_base);
u32 npu_garbage(const struct npu_conv *t, u32 pixel, u32 channel);

/* npu_dpu.c: tasks of the DPU alone */
enum npu_class npu_dpu_run(struct npu_core *core);
void npu_widen(u32 *dst, const u8 *src, u32 prec, u32 count);

/* npu_ppu.c */
enum npu_class npu_ppu_run(struct npu_core *core);

/* npu_dpu_laws.c: as npu_laws_check() */
struct npu_stages;
enum npu_class npu_dpu_check(struct npu_core *core, struct npu_dpu *d,
			     const struct npu_stages *s);
enum npu_class npu_broken(struct npu_core *core, struct npu_conv *t, const char *law,
			  enum npu_class cls, enum npu_effect effect);

/* npu_lut.c */
void npu_lut_reset(struct npu_core *core);
void npu_lut_seed(struct npu_core *core, u32 seed);
void npu_lut_new_list(struct npu_core *core);
void npu_lut_write(struct npu_core *core, u32 offset, u32 value);
bool npu_lut_complete(const struct npu_core *core);
bool npu_lut_races(const struct npu_core *core);
bool npu_lut_form(const u32 *dpu);
void npu_lut_begin(struct npu_core *core, const u32 *dpu);

/* npu_cbuf.c */
enum npu_class npu_load_feature(struct npu_core *core, const struct npu_conv *t);
enum npu_class npu_load_weight(struct npu_core *core, const struct npu_conv *t, u32 group);
u32 npu_group_kernels(const struct npu_conv *t, u32 group);
u32 npu_group_bytes(const struct npu_conv *t, u32 group);
u32 npu_weight_bytes(const struct npu_conv *t);

/* npu_stale.c: all but the first two change what passes, if a quirk says so */
void npu_stale_forget(struct npu_core *core);
void npu_stale_kick(struct npu_core *core);
void npu_stale_feature(struct npu_core *core, const struct npu_conv *t);
void npu_stale_read(struct npu_core *core, u32 addr, u8 *data, u32 len);
void npu_stale_output(struct npu_core *core, u32 addr, u8 *data, u32 len);

/* npu_out.c */
enum npu_class npu_load_bias(struct npu_core *core, const struct npu_conv *t);
void npu_out_convert(struct npu_core *core, const struct npu_conv *t, u32 p0, u32 p1, u32 g0,
		     u32 g1);
enum npu_class npu_out_write(struct npu_core *core, const struct npu_conv *t, u32 p0, u32 p1,
			     u32 g0, u32 g1);

#endif
