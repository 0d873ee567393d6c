// SPDX-License-Identifier: GPL-2.0-only
/* One core as the CPU sees it: registers, interrupt line, reset. */
#include "npu_core.h"

static_assert(sizeof(struct npu_core) <= NPU_CORE_BYTES, "raise NPU_CORE_BYTES");
static_assert(!(offsetof(struct npu_core, run) % 64), "vectors want their alignment");

struct npu_core *npu_core_init(void *mem, u32 index, const struct npu_env *env)
{
	struct npu_core *core = mem;

	/* The operand stores in front are always written before they are read. */
	memset((u8 *)mem + offsetof(struct npu_core, env), 0,
	       sizeof(*core) - offsetof(struct npu_core, env));
	core->env = env;
	core->law = npu_time_profile("default");
	core->index = index;
	npu_lut_seed(core, index + 1);
	npu_core_reset(core);
	return core;
}

void npu_core_reset(struct npu_core *core)
{
	memset(core->blk, 0, sizeof(core->blk));
	memset(core->last_groups, 0, sizeof(core->last_groups));
	core->last_start = 0;
	core->prefetched = false;
	core->feature.valid = false;
	core->weight.valid = false;
	npu_stale_forget(core);
	core->late.bytes = 0;
	core->conv_task = LUT_NO_TASK;
	core->int8_left = false;
	core->int8_now = false;
	core->int_bits = 0;
	core->crossed = false;
	core->warm_bits = 0;
	core->now_bits = 0;
	core->cold = false;
	npu_lut_reset(core);

	/* Idle values of hw 01 §1.2 */
	npu_word_set(&core->raw, INT_RAW_IDLE);
	npu_word_set(&core->mask, INT_BITS);
	npu_word_set(&core->op_en, 0);
	npu_word_set(&core->data_addr, PC_SEL_SLAVE);
	npu_word_set(&core->amount, 0);
	npu_word_set(&core->task_con, 0);
	npu_word_set(&core->dma_base, 0);
	npu_word_set(&core->status, 0);
	npu_word_set(&core->state, CORE_IDLE);
}

void npu_core_set_laws(struct npu_core *core, bool strict)
{
	core->strict = strict;
}

void npu_core_set_compute(struct npu_core *core, bool on)
{
	core->no_macs = !on;
}

void npu_core_set_error_bits(struct npu_core *core, bool raise)
{
	core->error_bits = raise;
}

void npu_core_set_quirks(struct npu_core *core, u32 quirks)
{
	if (core->quirks & ~quirks)
		npu_stale_forget(core);
	core->quirks = quirks;
}

void npu_core_set_peers(struct npu_core *core, bool peers)
{
	core->peers = peers;
}

void npu_core_set_time(struct npu_core *core, const struct npu_time_law *law)
{
	core->law = law;
}

u64 npu_core_ns(const struct npu_core *core, u32 cores)
{
	u32 i = npu_min(npu_max(cores, 1), NPU_TIME_CORES) - 1;

	return core->report->model_ns[i] + core->task_ns[i];
}

/* The task in progress does this work; what a kind costs once is once a kick. */
void npu_charge(struct npu_core *core, const struct npu_work *work, u32 out_bytes)
{
	bool first = !(core->kinds_begun & 1u << work->kind);
	u32 i;

	for (i = 0; i < NPU_TIME_CORES; i++)
		core->task_ns[i] = npu_time_task(core->law, work, i + 1) +
				   (first ? npu_time_start(core->law, work->kind, i + 1) : 0);
	core->kinds_begun |= 1u << work->kind;
	core->narrow = out_bytes < 4;
}

static u32 block_read(struct npu_core *core, u32 offset)
{
	enum npu_block_id id = npu_block_of_offset(offset);
	const struct npu_block *blk;

	if (id == BLK_NONE)
		return 0;
	blk = &core->blk[id];
	switch (offset & 0xfff) {
	case BLK_S_STATUS:
		/* Also during a stall (hw 03 C14) */
		return npu_word_get(&core->state) == CORE_IDLE ? 0 : S_STATUS_RUNNING;
	case BLK_S_POINTER:
		return blk->mode | blk->pointer | (blk->executer ? EXECUTER_GROUP : 0);
	default:
		return blk->reg[blk->pointer][(offset & 0xfff) >> 2];
	}
}

u32 npu_core_read(struct npu_core *core, u32 offset)
{
	switch (offset) {
	case PC_VERSION:
		return PC_VERSION_RK3588;
	case PC_VERSION_NUM:
		return 0;
	case PC_OP_EN:
		return npu_word_get(&core->op_en);
	case PC_DATA_ADDR:
		return npu_word_get(&core->data_addr);
	case PC_DATA_AMOUNT:
		return npu_word_get(&core->amount);
	case PC_UNNAMED_18:
		return 0xf;
	case PC_INT_MASK:
		return npu_word_get(&core->mask) | INT_MASK_READS;
	case PC_INT_STATUS:
		return npu_word_get(&core->raw) & npu_word_get(&core->mask) & INT_BITS;
	case PC_INT_RAW:
		return npu_word_get(&core->raw);
	case PC_TASK_CON:
		/* The upper bits clear themselves (hw 01 §1.3, hw 03 C13) */
		return npu_word_get(&core->task_con) & (TASK_CON_NUMBER | TASK_CON_PINGPONG);
	case PC_DMA_BASE:
		return npu_word_get(&core->dma_base);
	case PC_TASK_STATUS:
		return npu_word_get(&core->status);
	case DDMA_STATUS:
		return DDMA_IDLE;
	default:
		return block_read(core, offset);
	}
}

bool npu_core_write(struct npu_core *core, u32 offset, u32 value)
{
	enum npu_block_id id;
	u32 was;

	switch (offset) {
	case PC_OP_EN:
		was = npu_word_get(&core->op_en);
		npu_word_set(&core->op_en, value & 1);
		/* A pulse or a level: only the rise counts (hw 01 §2.1) */
		if (!(value & 1) || was)
			return false;
		if (npu_word_get(&core->data_addr) & PC_SEL_SLAVE)
			return false;
		return npu_word_move(&core->state, CORE_IDLE, CORE_STARTED);
	case PC_DATA_ADDR:
		npu_word_set(&core->data_addr, value & ~0xeu);
		return false;
	case PC_DATA_AMOUNT:
		npu_word_set(&core->amount, value & 0xffff);
		return false;
	case PC_INT_MASK:
		npu_word_set(&core->mask, value & INT_BITS);
		return false;
	case PC_INT_CLEAR:
		npu_word_clear(&core->raw, value & INT_BITS);
		return false;
	case PC_TASK_CON:
		npu_word_set(&core->task_con, value);
		if (value & TASK_CON_CLEAR)
			npu_word_clear(&core->status, TASK_CON_NUMBER);
		return false;
	case PC_DMA_BASE:
		npu_word_set(&core->dma_base, value & ~0xfu);
		return false;
	default:
		id = npu_block_of_offset(offset);
		if (id != BLK_NONE)
			npu_reg_write(core, id, offset, value);
		return false;
	}
}

bool npu_core_irq(struct npu_core *core)
{
	return npu_word_get(&core->raw) & npu_word_get(&core->mask) & INT_BITS;
}

void npu_core_set_seed(struct npu_core *core, u32 seed)
{
	npu_lut_seed(core, seed);
}

/* Writes to S_POINTER act on both groups; all others go to one (hw 01 §1.5) */
void npu_reg_write(struct npu_core *core, enum npu_block_id id, u32 offset, u32 value)
{
	struct npu_block *blk = &core->blk[id];

	if (offset == DPU_LUT_ACCESS_CFG || offset == DPU_LUT_ACCESS_DATA)
		npu_lut_write(core, offset, value);
	switch (offset & 0xfff) {
	case BLK_S_STATUS:
		return;
	case BLK_S_POINTER:
		blk->mode = value & (POINTER_PP_EN | EXECUTER_PP_EN | POINTER_PP_MODE);
		if (!(value & POINTER_PP_EN))
			blk->pointer = value & POINTER_GROUP;
		if (value & POINTER_CLEAR)
			blk->pointer = 0;
		if (value & EXECUTER_CLEAR)
			blk->executer = 0;
		return;
	default:
		blk->reg[blk->pointer][(offset & 0xfff) >> 2] = value;
		blk->programmed[blk->pointer] = true;
	}
}

bool npu_relax(struct npu_core *core)
{
	return core->env->relax && core->env->relax(core->env->ctx);
}

static enum npu_class fault(struct npu_core *core, u32 addr, bool write)
{
	core->report->task = core->task;
	core->report->fault_addr = addr;
	core->report->fault_write = write;
	/* The sheets never saw these bits on an IOMMU fault; hence a choice. */
	if (core->error_bits)
		npu_word_or(&core->raw, write ? INT_WRITE_ERROR : INT_READ_ERROR);
	return NPU_FAULT;
}

/* Bus addresses have 32 bits; one access never wraps past the end of them. */
static bool wraps(u32 addr, u32 len)
{
	return (u64)addr + len > 1ull << 32;
}

enum npu_class npu_read(struct npu_core *core, u32 addr, void *dst, u32 len)
{
	u32 at = addr;

	/* Whatever comes next on a core finds what was before it in memory. */
	npu_core_land(core);
	if (wraps(addr, len) || core->env->read(core->env->ctx, addr, dst, len, &at))
		return fault(core, at, false);
	core->report->read_bytes += len;
	return NPU_OK;
}

enum npu_class npu_write(struct npu_core *core, u32 addr, const void *src, u32 len)
{
	u32 late = core->late.on && core->narrow ? npu_min(len, STALE_BYTES) : 0;
	u32 at = addr;

	npu_core_land(core);
	if (core->cold)
		return NPU_OK;
	if (wraps(addr, len) || (len > late &&
				 core->env->write(core->env->ctx, addr, src, len - late, &at)))
		return fault(core, at, true);
	core->late.addr = addr + (len - late);
	core->late.bytes = late;
	memcpy(core->late.data, (const u8 *)src + (len - late), late);
	core->report->write_bytes += len;
	return NPU_OK;
}

void npu_core_power_off(struct npu_core *core)
{
	core->touched = false;
}

void npu_core_set_late(struct npu_core *core, bool late)
{
	core->late.on = late;
}

bool npu_core_land(struct npu_core *core)
{
	u32 bytes = core->late.bytes, at;

	core->late.bytes = 0;
	return bytes && !core->env->write(core->env->ctx, core->late.addr, core->late.data, bytes,
					  &at);
}

bool npu_core_has_late(const struct npu_core *core)
{
	return core->late.bytes;
}

/* The first law broken is the one reported; the worst class is. */
void npu_breach(struct npu_core *core, enum npu_class cls, const char *law)
{
	struct npu_report *r = core->report;

	if (cls > r->cls)
		r->cls = cls;
	if (!r->law) {
		r->law = law;
		r->task = core->task;
	}
}

bool npu_stops(enum npu_class cls)
{
	return cls >= NPU_HANG_0;
}

/* Whether some tasks ran decides between the two hangs of hw 03 §0. */
enum npu_class npu_hang(struct npu_core *core, const char *law)
{
	enum npu_class cls = core->report->tasks_done ? NPU_HANG_P : NPU_HANG_0;

	npu_breach(core, cls, law);
	return cls;
}

const char *npu_class_name(enum npu_class cls)
{
	static const char * const names[] = {
		[NPU_OK] = "OK",
		[NPU_STALE] = "STALE",
		[NPU_ZERO] = "ZERO",
		[NPU_ROWS] = "ROWS",
		[NPU_WRONG] = "WRONG",
		[NPU_HANG_0] = "HANG-0",
		[NPU_HANG_P] = "HANG-P",
		[NPU_FAULT] = "FAULT",
		[NPU_STOPPED] = "STOPPED",
	};

	return (u32)cls < ARRAY_SIZE(names) ? names[cls] : "?";
}
