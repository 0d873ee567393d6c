/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a validated description to register-command programs.
 *
 * Pure: fixed-width integers only, no allocation, no locks, no floating point.
 * The same files are compiled into rkmm.ko, host tests, tools and fuzzers.
 * The stages, each testable alone:
 *
 *	struct rkmm_matmul -> rkmm_geometry() -> struct rkmm_geom
 *	struct rkmm_geom   -> rkmm_geom_program(i) -> struct rkmm_program
 *	struct rkmm_program -> rkmm_emit_program() -> 108 register writes
 *	struct rkmm_member -> rkmm_image_emit() -> linked chains: rkmm_chain.h
 */
#ifndef RKMM_PROG_H
#define RKMM_PROG_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
#endif

/* Type pairs: the values are those of enum drm_rkmm_types (asserted in kmod). */
enum rkmm_types {
	RKMM_T_I8I32,
	RKMM_T_I8I8,
	RKMM_T_F16F32,
	RKMM_T_F16F16,
	RKMM_T_I4I16,
	RKMM_T_COUNT
};

/**
 * enum rkmm_form - how one matmul program reads A and writes C
 * @RKMM_FORM_FLAT: row-major A and C (hw 02 §2); int4: one row per program
 * @RKMM_FORM_BATCH: int4 multi-row form (hw 02 §6.2)
 * @RKMM_FORM_CUBE: channel-grouped A and C (hw 02 §8, column "cube")
 * @RKMM_FORM_COUNT: number of forms; in a description: whatever suits
 */
enum rkmm_form {
	RKMM_FORM_FLAT,
	RKMM_FORM_BATCH,
	RKMM_FORM_CUBE,
	RKMM_FORM_COUNT
};

/* Why a shape cannot be served; the values are those of enum drm_rkmm_reason. */
enum rkmm_reason {
	RKMM_OK,
	RKMM_REASON_TYPES,	/* type pair unknown */
	RKMM_REASON_ZERO,	/* a dimension is zero */
	RKMM_REASON_K_LIMIT,	/* K beyond every cap */
	RKMM_REASON_N_LIMIT,
	RKMM_REASON_M_LIMIT,
	RKMM_REASON_STRIDE,	/* pitch too small, misaligned or beyond its field */
	RKMM_REASON_BANKS,	/* no legal CBUF split */
	RKMM_REASON_LAYOUT,	/* operand layout id does not fit */
	RKMM_REASON_SIZE,	/* an operand would exceed the address window */
	RKMM_REASON_FORM,	/* form not available for this type pair */
	RKMM_REASON_QUANT,	/* requantisation parameters out of range */
	RKMM_REASON_OPERATION,	/* operation unknown, or not with this type */
	RKMM_REASON_PARAM,	/* a number out of range, or one the operation does not have */
	RKMM_REASON_READ_BACK,	/* int32 tensors cannot be read (hw 03 O5) */
	RKMM_REASON_STAGE,	/* a stage of an epilogue cannot be there */
	RKMM_REASON_SLICES,	/* an epilogue behind partial results */
	RKMM_REASON_COUNT
};

#define RKMM_LANES_MAX		3	/* cores of the largest part */

/**
 * struct rkmm_cost - constants of the cost law, hw 03 §6.2, at 1 GHz
 * @i8_start: int8: ns, by the number of cores at work
 * @i8_rate: int8: bytes of weight in 10 ns, by the number of cores
 * @i8_macs: int8: multiplications per ns and core
 * @f16_start: fp16: ns
 * @f16_rate: fp16: bytes of weight in 10 ns
 * @f16_macs: fp16: multiplications per ns
 * @i4_start: int4 batches: ns per program, by the number of cores
 * @i4_macs: int4 batches: multiplications per ns and core
 * @row_start: int4 rows: ns
 * @row_rate: int4 rows: bytes of weight in 10 ns
 * @add_ps: CPU: ps per element of a partial result
 */
struct rkmm_cost {
	u32 i8_start[RKMM_LANES_MAX], i8_rate[RKMM_LANES_MAX], i8_macs;
	u32 f16_start, f16_rate, f16_macs;
	u32 i4_start[RKMM_LANES_MAX], i4_macs[RKMM_LANES_MAX];
	u32 row_start, row_rate;
	u32 add_ps;
};

struct rkmm_dpu;
struct rkmm_envelope;

extern const struct rkmm_cost rkmm_cost_rk3588;

/**
 * struct rkmm_rung - a geometry that a die was seen to do right, or a cap
 * @bits: bits per element of A
 * @form: enum rkmm_form, RKMM_FORM_COUNT for any
 * @cap: no choice but an upper bound
 * @narrow: cap only for programs of at most so many columns, 0 for all
 * @cores: bit n - 1: right with n cores at work; caps have none
 * @data_banks: CBUF banks of the feature
 * @k_min: smallest padded K of a program
 * @k_max: largest
 * @rows: rows per program: exactly these, a cap at most these, 0 for none
 * @cols: columns per program: at most these, 0 for any
 */
struct rkmm_rung {
	u8 bits, form;
	bool cap;
	u8 narrow, cores, data_banks;
	u32 k_min, k_max, rows, cols;
};

/**
 * struct rkmm_die - envelope of a die
 * @name: profile name: "default", "235", "236"; "shipped" for the published tables alone
 * @rungs: geometries and caps, besides the caps of every die
 * @nrungs: entries of @rungs
 */
struct rkmm_die {
	const char *name;
	const struct rkmm_rung *rungs;
	u32 nrungs;
};

#define RKMM_DIES	4
extern const struct rkmm_die rkmm_dies[RKMM_DIES];

/** rkmm_die_find() - the profile called @name, NULL for none */
const struct rkmm_die *rkmm_die_find(const char *name);

/**
 * struct rkmm_limits - what a chip can do, one instance per SoC row
 * @k_max: reduction cap of one program (hw 02 §5.3: 10752)
 * @n_max: output width cap (8192)
 * @banks: CBUF banks (12)
 * @bank_bytes: bytes per bank (32768)
 * @tasks_max: tasks per kick (4095)
 * @amount_scale: entries per unit of the amount field (2)
 * @light: light programs may be used in chains (hw 02 §7.4)
 * @land: 0, or device address of memory for trailers, which chains with narrow output then
 *	have: rkmm_land.h
 * @cost: constants of the cost law
 * @die: envelope of the die
 * @envelope: NULL, or verdicts on this one: rkmm_envelope.h
 */
struct rkmm_limits {
	u32 k_max;
	u32 n_max;
	u32 banks;
	u32 bank_bytes;
	u32 tasks_max;
	u32 amount_scale;
	bool light;
	u32 land;
	const struct rkmm_cost *cost;
	const struct rkmm_die *die;
	const struct rkmm_envelope *envelope;
};

extern const struct rkmm_limits rkmm_limits_rk3588;

/**
 * struct rkmm_matmul - C[M][N] = A[M][K] x B[K][N], as the user asked
 * @types: type pair
 * @form: wanted form, or RKMM_FORM_COUNT to leave it to the geometry
 * @m: rows, at least 1
 * @k: contraction length, at least 1; padded inside
 * @n: columns, at least 1; padded inside
 * @a_pitch: bytes from one row of A to the next, 0 for packed; flat form only
 * @c_pitch: bytes from one row of C to the next, 0 for packed; flat form only
 * @mult: int8 output: multiplier 1..0x7fff (acc * mult >> shift) + offset
 * @shift: 0..63 limited by the field
 * @offset: added after the shift
 * @lanes: cores that may be used at the same time, 0 counts as 1
 * @slice: K of one slice where B is packed already, 0 for the geometry's choice
 * @free_slice: without @slice: B is not packed yet and partial results are
 *	welcome where they win time
 */
struct rkmm_matmul {
	enum rkmm_types types;
	enum rkmm_form form;
	u32 m, k, n;
	u32 a_pitch, c_pitch;
	s32 mult;
	u32 shift;
	s32 offset;
	u32 lanes;
	u32 slice;
	bool free_slice;
};

/**
 * struct rkmm_geom - the tiling of one matmul: everything but the addresses
 * @mm: the description it came from
 * @types: what the programs compute: those of @mm, or those of the partial sums
 * @form: form chosen
 * @slices: slices of K, each with a partial C of its own that the host adds up
 * @kp: K of one program: of a slice, padded to the hardware multiple
 * @ka: columns of A: @slices * @kp
 * @np: N padded
 * @rows: rows per program (the last M tile may have fewer)
 * @cols: columns per program (multiple of the kernel group; the last may have fewer)
 * @m_tiles: ceil(m / rows)
 * @n_tiles: ceil(np / cols)
 * @programs: slices * m_tiles * n_tiles; slice outermost, N tile, M tile inner
 *	(hw 02 §6.6)
 * @data_banks: CBUF banks for the feature
 * @weight_banks: CBUF banks for the weight
 * @grains: FEATURE_GRAINS field value
 * @lanes: cores that may share the work, each with a run of programs of its own
 * @lanes_most: cores that may run such programs at the same time, beside others of a group
 * @tile_rows: rows of the blocks that a batch C is laid out in: @rows, but for a fallback
 * @tile_cols: columns of those
 * @fallback_rows: wide batch: rows of programs with the shipped geometry that read and
 *	write the same addresses, 0 for none: see rkmm_geom_fallback()
 * @weight_reuse: programs after the first M tile of a chunk keep the weight
 * @a_pitch: bytes between rows of A as the programs read them; cube: between
 *	channel groups of 16 bytes
 * @c_pitch: bytes between rows of C as the programs write them (flat), between
 *	channel groups of 16 bytes (cube), of one program's slot (batch)
 * @min_rows: a program never runs fewer rows than this (int4 batch, hw 03 G17)
 * @a_rows: rows that A holds: m, or m rounded up to @min_rows
 * @a_slice: bytes of A from a slice to the next
 * @b_slice: bytes of packed B from a slice to the next
 * @c_slice: bytes of C from a partial to the next
 * @a_bytes: bytes of A that the programs need, without what they over-fetch
 * @b_bytes: bytes of packed B, all slices
 * @c_bytes: bytes of C that the programs write, all partials, gaps included
 * @may_saturate: a partial sum may leave its type though the whole sum does not
 * @b_layout: layout id of B: a function of (types, kp, slices) only
 * @a_layout: layout id of A: a function of (types, form, M, K) only, and of a
 *	pitch that is not the packed one
 * @c_layout: layout id of C
 * @predicted_ns: cost law of hw 03 §6.2 at 1 GHz, all lanes at the same time
 * @host_ns: time of the CPU to add partial results
 * @fused: what the DPU does besides, NULL for nothing: rkmm_epilogue_bind()
 */
struct rkmm_geom {
	struct rkmm_matmul mm;
	enum rkmm_types types;
	enum rkmm_form form;
	u32 slices, kp, ka, np;
	u32 rows, cols;
	u32 tile_rows, tile_cols, fallback_rows;
	u32 m_tiles, n_tiles, programs;
	u32 data_banks, weight_banks;
	u32 grains;
	u32 lanes, lanes_most;
	bool weight_reuse, may_saturate;
	u32 min_rows, a_rows;
	u32 a_pitch, c_pitch;
	u64 a_slice, b_slice, c_slice;
	u64 a_bytes, b_bytes, c_bytes;
	u64 b_layout, a_layout, c_layout;
	u64 predicted_ns, host_ns;
	const struct rkmm_dpu *fused;
};

/**
 * rkmm_geometry() - choose a tiling inside the laws of hw 02 §5, §6
 * @limits: chip
 * @mm: what to compute; any m, k, n >= 1
 * @geom: filled on success
 *
 * The one of rkmm_geom_candidate() with the least predicted_ns + host_ns, the
 * first of equal ones. Where the envelope bars all of them a plan that leaves the form
 * open gets single rows, others RKMM_REASON_FORM.
 *
 * Return: RKMM_OK or the reason of the refusal. Never overflows, whatever @mm holds.
 */
enum rkmm_reason rkmm_geometry(const struct rkmm_limits *limits, const struct rkmm_matmul *mm,
			       struct rkmm_geom *geom);

/** rkmm_geom_candidates() - how many there are */
u32 rkmm_geom_candidates(const struct rkmm_limits *limits);

/** rkmm_geom_candidate_rung() - rung of the die that candidate @i has, from 1; 0 for none */
u32 rkmm_geom_candidate_rung(const struct rkmm_limits *limits, u32 i);

/**
 * rkmm_geom_candidate() - one tiling to choose from
 * @limits: chip
 * @mm: what to compute
 * @i: below rkmm_geom_candidates()
 * @geom: filled on success
 *
 * Return: RKMM_OK or why it is none; RKMM_REASON_COUNT for a die that was not seen
 * to do it, or was seen not to, or for the same as an earlier one.
 */
enum rkmm_reason rkmm_geom_candidate(const struct rkmm_limits *limits,
				     const struct rkmm_matmul *mm, u32 i, struct rkmm_geom *geom);

/**
 * rkmm_geom_fallback() - what to run when a tiling turns out not to work here
 * @limits: chip
 * @geom: the tiling
 * @other: smaller programs with the captured split of the banks, 0xb1, which read and
 *	write the same addresses: int4 batches as published, rows of one data bank else
 *
 * Return: false when @geom has that split already, or nothing else can take its place.
 */
bool rkmm_geom_fallback(const struct rkmm_limits *limits, const struct rkmm_geom *geom,
			struct rkmm_geom *other);

/** rkmm_geom_predict() - time of all lanes at 1 GHz under @cost */
u64 rkmm_geom_predict(const struct rkmm_cost *cost, const struct rkmm_geom *geom);

/**
 * rkmm_geom_lanes() - lanes that a submission of @rows rows has
 * @geom: the tiling
 * @rows: rows of the submission
 *
 * At most geom->lanes, and no more than there are programs.
 */
u32 rkmm_geom_lanes(const struct rkmm_geom *geom, u32 rows);

/** rkmm_geom_host_ns() - time of the CPU to add the partial results under @cost */
u64 rkmm_geom_host_ns(const struct rkmm_cost *cost, const struct rkmm_geom *geom);

/**
 * struct rkmm_program - one register program, laws already applied
 * @types: type pair
 * @form: flat, batch or cube
 * @m: rows of this program (batch: useful rows H; flat int4: 1)
 * @k: padded K
 * @n: padded columns
 * @data_banks: value of DATA_BANK
 * @weight_banks: value of WEIGHT_BANK
 * @grains: FEATURE_GRAINS field value
 * @weight_reuse: CBUF_CON0 bit 13
 * @a_pitch: bytes between rows of A (flat) or channel groups (cube); a multiple of 16
 * @c_pitch: the same for C: both notches (flat), surface stride (cube)
 * @c_first: flat: bytes from row 0 to row 1 of C where they differ from @c_pitch,
 *	the offset stride of hw 02 §3.5; 0 for @c_pitch
 * @mult: output scale, 0 for 1
 * @shift: output shift
 * @offset: output offset
 * @a: device address of A
 * @b: device address of B
 * @c: device address of C
 * @fused: BS, BN, lookup and, of a lookup, output conversion; NULL for none. Its sizes
 *	and addresses do not count
 * @table: device address of the operand of BS, of the first of its columns
 * @load: the program writes the table of the lookup first
 */
struct rkmm_program {
	enum rkmm_types types;
	enum rkmm_form form;
	u32 m, k, n;
	u32 data_banks, weight_banks;
	u32 grains;
	bool weight_reuse;
	u32 a_pitch, c_pitch, c_first;
	s32 mult;
	u32 shift;
	s32 offset;
	u32 a, b, c;
	const struct rkmm_dpu *fused;
	u32 table;
	bool load;
};

/**
 * rkmm_geom_program() - program number @i of a tiling
 * @geom: the tiling
 * @i: 0 .. geom->programs - 1
 * @rows: rows of the submission, 1 .. geom->mm.m; programs past them must not be asked for
 * @a: device address of A
 * @b: device address of B
 * @c: device address of C
 * @prog: filled
 *
 * Pitches and sizes follow the plan's M, not @rows. In the batch form the rows
 * of a program do too, since C's addresses depend on them: the last program of
 * a chunk may compute rows past @rows, up to a_rows.
 */
void rkmm_geom_program(const struct rkmm_geom *geom, u32 i, u32 rows, u32 a, u32 b, u32 c,
		       struct rkmm_program *prog);

/** rkmm_geom_programs() - number of programs for a submission of @rows rows */
u32 rkmm_geom_programs(const struct rkmm_geom *geom, u32 rows);

#define RKMM_PROG_WRITES	108	/* register writes of a full matmul program */
#define RKMM_BIAS_WRITES	18	/* those of the read DMA, where BS reads (hw 02 §8) */
#define RKMM_TAIL_WORDS		4	/* hw 02 §1.2 */

/** rkmm_program_writes() - register writes of @prog: RKMM_PROG_WRITES without fused stages */
u32 rkmm_program_writes(const struct rkmm_program *prog);

/** rkmm_program_enable() - start bits of @prog (hw 04 §8) */
u32 rkmm_program_enable(const struct rkmm_program *prog);

/**
 * rkmm_emit_program() - write the 108 entries of hw 02 §2, in its order
 * @prog: the program
 * @words: room for rkmm_program_writes() entries
 *
 * Return: entries written.
 */
u32 rkmm_emit_program(const struct rkmm_program *prog, u64 *words);

/**
 * rkmm_emit_light() - write what differs from the program two before
 * @prog: the program
 * @past: the program two before it in the same chain: its register group is the
 *	one that @prog lands in (hw 02 §7.4)
 * @words: room for rkmm_light_writes() entries
 *
 * rkmm_light_able() says whether there is such a program. Return: entries written.
 */
u32 rkmm_emit_light(const struct rkmm_program *prog, const struct rkmm_program *past, u64 *words);

#define RKMM_LIGHT_WRITES	12	/* of a light program where only addresses differ */

/**
 * rkmm_emit_again() - a light program like another one
 * @pattern: what rkmm_emit_light() wrote of the other, which differed in addresses only
 * @prog: the program: it differs from that in addresses only
 * @words: room for RKMM_LIGHT_WRITES entries
 *
 * Return: entries written.
 */
u32 rkmm_emit_again(const u64 *pattern, const struct rkmm_program *prog, u64 *words);

/* Addresses of a program */
#define RKMM_ADDR_A	(1u << 0)
#define RKMM_ADDR_B	(1u << 1)
#define RKMM_ADDR_C	(1u << 2)

/**
 * rkmm_emit_addresses() - other addresses in a program that was written
 * @prog: the program with the new ones
 * @past: what rkmm_emit_light() was given, NULL for a full program
 * @which: RKMM_ADDR_* to write
 * @words: its first entry; written upward, never read
 *
 * Return: entries written.
 */
u32 rkmm_emit_addresses(const struct rkmm_program *prog, const struct rkmm_program *past,
			u32 which, u64 *words);

/** rkmm_light_able() - whether what rkmm_emit_light() never writes is equal in both */
bool rkmm_light_able(const struct rkmm_program *prog, const struct rkmm_program *past);

/** rkmm_light_writes() - entries of rkmm_emit_light() */
u32 rkmm_light_writes(const struct rkmm_program *prog, const struct rkmm_program *past);

/**
 * rkmm_emit_tail() - the four trailer entries
 * @words: room for RKMM_TAIL_WORDS entries
 * @next: device address of the next program, 0 for none
 * @next_writes: register writes of the next program, 0 for none
 * @enable: start bits (RKMM_START_MATMUL)
 */
void rkmm_emit_tail(u64 *words, u32 next, u32 next_writes, u32 enable);

#define RKMM_START_MATMUL	0x0d	/* CNA, CORE, DPU (hw 02 §1.2) */
#define RKMM_START_DPU_RDMA	0x10	/* where the DPU reads too (hw 04 §8) */
#define RKMM_INT_DPU		0x300	/* both register groups (hw 01 §1.2) */

/** rkmm_amount() - amount field for a program of @writes register writes (hw 02 §1.3) */
u32 rkmm_amount(u32 writes);

/** rkmm_slot_bytes() - bytes of a chain slot for @writes writes and the tail, 64-byte multiple */
u32 rkmm_slot_bytes(u32 writes);

/**
 * enum rkmm_layout - where elements lie; the values are those of enum drm_rkmm_layout
 * @RKMM_LAYOUT_ROWS: rows with a pitch
 * @RKMM_LAYOUT_WEIGHT: kernel groups and tiles of 32 channels (hw 02 §4)
 * @RKMM_LAYOUT_BATCH_A: int4 rows of K bytes whose second half is zero (hw 02 §6.2)
 * @RKMM_LAYOUT_BATCH_C: int16 blocks of 64 columns, one line in four (hw 02 §6.2, §6.6)
 * @RKMM_LAYOUT_CUBE: channel groups of 16 bytes (hw 02 §3.4, §3.5)
 */
enum rkmm_layout {
	RKMM_LAYOUT_ROWS,
	RKMM_LAYOUT_WEIGHT,
	RKMM_LAYOUT_BATCH_A,
	RKMM_LAYOUT_BATCH_C,
	RKMM_LAYOUT_CUBE,
};

/**
 * struct rkmm_operand - one operand of a tiling, as struct drm_rkmm_tensor wants it
 * @size: bytes
 * @layout_id: identity
 * @layout: kind
 * @rows: padded rows
 * @cols: padded columns
 * @pitch: bytes between rows (ROWS, BATCH_A)
 * @group: columns per kernel group (WEIGHT)
 * @tile_rows: rows per program (BATCH_C)
 * @tile_cols: columns per program (BATCH_C)
 * @bits: bits per element
 * @slices: slices of K, each in the layout by itself; C: partial results
 * @slice: columns (A) or rows (B) of a slice
 * @slice_stride: bytes from a slice to the next
 */
struct rkmm_operand {
	u64 size, layout_id;
	enum rkmm_layout layout;
	u32 rows, cols, pitch, group, tile_rows, tile_cols, bits;
	u32 slices, slice;
	u64 slice_stride;
};

/** rkmm_geom_a() - describe A of @geom in @a */
void rkmm_geom_a(const struct rkmm_geom *geom, struct rkmm_operand *a);

/** rkmm_geom_b() - describe B of @geom in @b */
void rkmm_geom_b(const struct rkmm_geom *geom, struct rkmm_operand *b);

/** rkmm_geom_c() - describe C of @geom in @c */
void rkmm_geom_c(const struct rkmm_geom *geom, struct rkmm_operand *c);

/**
 * rkmm_addr_a() - byte of A[@row][@col] from the start of A
 * @geom: the tiling
 * @row: below geom->a_rows
 * @col: below geom->ka; int4: an even one is the low nibble
 */
u64 rkmm_addr_a(const struct rkmm_geom *geom, u32 row, u32 col);

/** rkmm_addr_b() - byte of B[@row][@col] from the start of B; @row below ka, @col below np */
u64 rkmm_addr_b(const struct rkmm_geom *geom, u32 row, u32 col);

/**
 * rkmm_addr_c() - byte of C[@row][@col] from the start of C
 * @geom: the tiling
 * @row: below m
 * @col: below np
 *
 * Of the first partial; the others follow at distances of c_slice.
 */
u64 rkmm_addr_c(const struct rkmm_geom *geom, u32 row, u32 col);

/*
 * Layout ids, version 1:
 *
 *	63:60 version  59:56 operand (1 A, 2 B, 3 C)  55:52 precision code (hw 02 §3.6)
 *	A: 51:50 form  49:28 padded K / 32  27:0 flat: 0 or pitch / 16; cube: rows;
 *	   batch in several slices: 27:19 K of a slice / 32, 18:0 rows; in one: 0
 *	B: 51:32 padded K of a slice  31:0 number of slices - 1
 *	C: 51:48 form  47:40 rows per program (batch)  39:32 columns per program / 64
 *	   (batch)  31:0 pitch / 16 (flat), rows (others). The same of every partial.
 *
 * Type pairs with the same input type share A and B.
 */
#define RKMM_LAYOUT_VERSION	1ull

/** rkmm_layout_b() - id of packed weights: @slices slices of @kp rows; 0 when there is none */
u64 rkmm_layout_b(enum rkmm_types types, u32 kp, u32 slices);

/** rkmm_layout_slice() - K of a slice of weights with layout id @b_layout */
u32 rkmm_layout_slice(u64 b_layout);

/** rkmm_slice_k() - K of a slice where one program cannot reduce K (hw 02 §4) */
u32 rkmm_slice_k(enum rkmm_types types);

/* Names for people: constant strings. */
const char *rkmm_types_name(enum rkmm_types types);	/* "i8i32" ... */
const char *rkmm_form_name(enum rkmm_form form);
const char *rkmm_reason_text(enum rkmm_reason reason);

/* Bits per element of A and B, bytes per element of C, columns per kernel group. */
u32 rkmm_in_bits(enum rkmm_types types);
u32 rkmm_out_bytes(enum rkmm_types types);
u32 rkmm_group(enum rkmm_types types);

/* K is padded to a multiple of this, and to at least rkmm_k_min(). */
#define RKMM_K_ALIGN	32
u32 rkmm_k_min(enum rkmm_types types);

/** rkmm_batch_rows() - H of the int4 batch form for a padded K, 0 when it has none (hw 02 §6.3) */
u32 rkmm_batch_rows(u32 kp);

/** rkmm_batch_cols() - Wb of the int4 batch form for a padded K (hw 02 §6.4) */
u32 rkmm_batch_cols(u32 kp);

#endif
