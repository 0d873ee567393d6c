// SPDX-License-Identifier: GPL-2.0-only
/*
 * Program control: fetches the entries of a task, writes them to the blocks'
 * register groups, starts the blocks, follows the chain (hw 02 §1, hw 01 §2).
 */
#include "npu_core.h"

/* Page of the register map by block (hw 01 §1.1) */
enum npu_block_id npu_block_of_offset(u32 offset)
{
	static const u8 by_page[16] = {
		BLK_NONE, BLK_CNA, BLK_NONE, BLK_CORE, BLK_DPU, BLK_DPU_RDMA, BLK_PPU,
		BLK_PPU_RDMA, BLK_NONE, BLK_NONE, BLK_NONE, BLK_NONE, BLK_NONE, BLK_NONE,
		BLK_NONE, BLK_NONE,
	};

	return offset > 0xffff || offset & 3 ? BLK_NONE : by_page[offset >> 12];
}

/* By start bit and, eight bits further up, by target bit (hw 02 §1.1, §1.2) */
static const struct {
	enum npu_block_id id;
	u32 start;
} blocks[] = {
	{ BLK_CNA, START_CNA },
	{ BLK_CORE, START_CORE },
	{ BLK_DPU, START_DPU },
	{ BLK_DPU_RDMA, START_DPU_RDMA },
	{ BLK_PPU, START_PPU },
	{ BLK_PPU_RDMA, START_PPU_RDMA },
};

static u32 target_of(u32 start)
{
	return start << 9;
}

struct reg_range {
	u16 first, last;
};

/* Every register that a sheet names, for npu_report.unknown_regs */
static const struct reg_range known[] = {
	{ 0x1000, 0x1014 }, { 0x1020, 0x1040 }, { 0x1044, 0x1044 }, { 0x104c, 0x1068 },
	{ 0x1070, 0x1088 }, { 0x1100, 0x1104 }, { 0x1110, 0x1110 }, { 0x1140, 0x1184 },
	{ 0x3000, 0x3008 }, { 0x3010, 0x301c }, { 0x3030, 0x3030 },
	{ 0x4000, 0x4014 }, { 0x4020, 0x4024 }, { 0x4030, 0x4088 }, { 0x4090, 0x40ac },
	{ 0x40c0, 0x40c4 }, { 0x4100, 0x412c },
	{ 0x5000, 0x5028 }, { 0x502c, 0x502c }, { 0x5034, 0x504c }, { 0x5064, 0x506c },
	{ 0x6000, 0x6024 }, { 0x6034, 0x6048 }, { 0x6070, 0x6070 }, { 0x607c, 0x607c },
	{ 0x6084, 0x6084 }, { 0x60dc, 0x60dc },
	{ 0x7000, 0x7014 }, { 0x701c, 0x701c }, { 0x7024, 0x7030 }, { 0x7038, 0x7038 },
};

bool npu_reg_known(enum npu_block_id id, u32 offset)
{
	u32 i;

	if (npu_block_of_offset(offset) != id)
		return false;
	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (offset >= known[i].first && offset <= known[i].last)
			return true;
	return false;
}

/**
 * struct pc_task - one pass through a fetched list
 * @index: task number
 * @addr: device address of the list
 * @entries: length
 * @more: tasks that follow by the task counter
 * @pingpong: the next list is fetched while this task runs
 * @synced: 0041 was seen
 * @started: the start entry was met
 */
struct pc_task {
	u32 index;
	u32 addr;
	u32 entries;
	bool more;
	bool pingpong;
	bool synced;
	bool started;
};

static void prefetch(struct npu_core *core, const struct pc_task *task)
{
	u32 entries = 2 * (core->link_amount + 1);
	u32 at;

	core->prefetched = false;
	if (!task->pingpong || !task->more || !core->link_amount)
		return;
	entries = npu_min(entries, FETCH_ENTRIES);
	/* A list that cannot be read faults when its turn comes. */
	if ((u64)core->link_addr + entries * 8 > 1ull << 32 ||
	    core->env->read(core->env->ctx, core->link_addr, core->prefetch, entries * 8, &at))
		return;
	core->prefetched = true;
	core->prefetch_addr = core->link_addr;
	core->prefetch_entries = entries;
}

static enum npu_class run_blocks(struct npu_core *core, u32 start)
{
	start &= ~START_RESERVED;
	if (start == (START_CNA | START_CORE | START_DPU) ||
	    start == (START_CNA | START_CORE | START_DPU | START_DPU_RDMA))
		return npu_conv_run(core, start);
	if (start == (START_DPU | START_DPU_RDMA))
		return npu_dpu_run(core);
	if (start == (START_PPU | START_PPU_RDMA))
		return npu_ppu_run(core);
	return npu_hang(core, "the start value enables blocks no task uses (hw 02 1.2)");
}

/* The start entry: hands the pointer's groups over and runs the executer's. */
static enum npu_class start_entry(struct npu_core *core, struct pc_task *task, u32 start)
{
	enum npu_class cls;
	u32 i;

	/* Too large an amount reads into the next program and is tolerated (hw 04 §0.4). */
	if (task->started && core->strict)
		return npu_hang(core, "a second start entry in the list (hw 02 1.2, 1.3)");
	if (task->started)
		return NPU_OK;
	if (!task->synced && core->strict)
		return npu_hang(core, "no 0041 entry before the start entry (hw 02 1.1)");
	task->started = true;

	for (i = 0; i < ARRAY_SIZE(blocks); i++) {
		struct npu_block *blk = &core->blk[blocks[i].id];

		if (!(start & blocks[i].start))
			continue;
		blk->enabled[blk->pointer] = true;
		if (!blk->enabled[blk->executer])
			return npu_hang(core, "S_POINTER: not the next group started (hw 04 0.5)");
		if (!blk->programmed[blk->executer])
			return npu_hang(core, "a started block was never programmed (hw 04 8)");
		core->last_groups[blocks[i].id] = blk->executer;
		if ((blk->mode & POINTER_PP_EN) && (blk->mode & POINTER_PP_MODE))
			blk->pointer ^= 1;
	}
	core->last_start = start;

	prefetch(core, task);
	cls = run_blocks(core, start);
	if (npu_stops(cls))
		return cls;

	for (i = 0; i < ARRAY_SIZE(blocks); i++) {
		struct npu_block *blk = &core->blk[blocks[i].id];

		if (!(start & blocks[i].start))
			continue;
		blk->enabled[blk->executer] = false;
		if (blk->mode & EXECUTER_PP_EN)
			blk->executer ^= 1;
		/* Without PP_MODE the pointer follows the executer. */
		if ((blk->mode & POINTER_PP_EN) && !(blk->mode & POINTER_PP_MODE))
			blk->pointer ^= 1;
	}
	return cls;
}

static enum npu_class pc_entry(struct npu_core *core, struct pc_task *task, u64 entry)
{
	u32 target = entry >> 48, offset = entry & 0xffff;
	u32 value = (u32)(entry >> 16);
	bool known = false;
	u32 i;

	if (!entry)
		return NPU_OK;
	if (target & TARGET_START) {
		if (offset == PC_OP_EN)
			return start_entry(core, task, value);
		core->report->unknown_regs++;
		return NPU_OK;
	}
	if (target & TARGET_SYNC) {
		task->synced = true;
		return NPU_OK;
	}
	if (target & TARGET_PC) {
		known = offset == PC_DATA_ADDR || offset == PC_DATA_AMOUNT;
		/* Links behind the start entry belong to nobody. */
		if (offset == PC_DATA_ADDR && !task->started)
			core->link_addr = value & ~0xfu;
		else if (offset == PC_DATA_AMOUNT && !task->started)
			core->link_amount = value & 0xffff;
	}
	for (i = 0; i < ARRAY_SIZE(blocks); i++) {
		enum npu_block_id id = blocks[i].id;

		if (!(target & target_of(blocks[i].start)) || npu_block_of_offset(offset) != id)
			continue;
		known = npu_reg_known(id, offset);
		npu_reg_write(core, id, offset, value);
	}
	if (!known)
		core->report->unknown_regs++;
	return NPU_OK;
}

static enum npu_class run_list(struct npu_core *core, struct pc_task *task)
{
	enum npu_class cls, worst = NPU_OK;
	u32 done = 0, n, i;

	core->link_addr = 0;
	core->link_amount = 0;
	npu_lut_new_list(core);
	while (done < task->entries) {
		n = npu_min(task->entries - done, FETCH_ENTRIES);
		if (!done && core->prefetched && core->prefetch_addr == task->addr) {
			n = npu_min(n, core->prefetch_entries);
			memcpy(core->fetch, core->prefetch, n * 8);
			core->report->read_bytes += n * 8;
		} else {
			cls = npu_read(core, task->addr + done * 8, core->fetch, n * 8);
			if (cls)
				return cls;
		}
		for (i = 0; i < n; i++) {
			cls = pc_entry(core, task, core->fetch[i]);
			if (npu_stops(cls))
				return cls;
			if (cls > worst)
				worst = cls;
		}
		done += n;
		if (npu_relax(core))
			return NPU_STOPPED;
	}
	if (!task->started)
		return npu_hang(core, "no start entry in the fetched list (hw 02 1.3, hw 03 C1)");
	return worst;
}

/* Bits of the blocks that ran the last task, by register group (hw 01 §1.2) */
static u32 done_bits(const struct npu_core *core)
{
	const u32 *g = core->last_groups;
	u32 bits = 0;

	if (core->last_start & START_CNA)
		bits |= 0x15u << g[BLK_CNA];
	if (core->last_start & START_CORE)
		bits |= 0x40u << g[BLK_CORE];
	if (core->last_start & START_DPU)
		bits |= 0x100u << g[BLK_DPU];
	if (core->last_start & START_PPU)
		bits |= 0x400u << g[BLK_PPU];
	return bits;
}

/* The task's work is done: its time is over, too. Return: the core shall stop. */
static bool task_over(struct npu_core *core)
{
	bool stop = core->env->pace && core->env->pace(core->env->ctx);
	u32 i;

	for (i = 0; i < NPU_TIME_CORES; i++)
		core->report->model_ns[i] += core->task_ns[i];
	return stop;
}

/*
 * A kick raises its interrupt once, after the last task: the vendor handler
 * takes the first match for the whole job, and raw bits stay clear while a
 * chain runs (hw 01 §2.1, hw 03 C14). The count field then already reads 0.
 * The raw bits come last: whoever sees them may start the core again.
 */
static void finish(struct npu_core *core, u32 tasks, bool pingpong)
{
	u32 bits = done_bits(core);

	npu_word_set(&core->status, tasks > 1 && pingpong ? 0x5000 : 0x7000);
	npu_word_set(&core->state, CORE_IDLE);
	npu_word_or(&core->raw, INT_RAW_HAS_RUN | bits);
}

void npu_core_run(struct npu_core *core, bool (*after_task)(void *arg, u32 task), void *arg,
		  struct npu_report *report)
{
	u32 con = npu_word_get(&core->task_con);
	u32 tasks = con & TASK_CON_NUMBER;
	struct pc_task task = {
		.addr = npu_word_get(&core->data_addr) & ~0xfu,
		.entries = 2 * (npu_word_get(&core->amount) + 1),
		.pingpong = con & TASK_CON_PINGPONG,
	};
	enum npu_class cls = NPU_OK;

	memset(report, 0, sizeof(*report));
	if (npu_word_get(&core->state) != CORE_STARTED)
		return;
	core->report = report;
	core->task = 0;
	core->prefetched = false;
	npu_stale_kick(core);
	core->pingpong = task.pingpong;
	core->tasks = tasks;
	core->kicks++;
	core->conv_task = LUT_NO_TASK;
	core->int8_left = core->int8_now;
	core->int8_now = false;
	core->warm_bits |= core->now_bits;
	core->now_bits = 0;
	core->cold = false;
	core->kinds_begun = 0;
	core->narrow = false;
	npu_word_set(&core->status, 0xf000);
	if (!tasks)
		cls = npu_hang(core, "task number 0 (hw 01 1.3)");

	while (!npu_stops(cls)) {
		task.more = task.index + 1 < tasks;
		task.started = false;
		task.synced = false;
		core->task = task.index;
		memset(core->task_ns, 0, sizeof(core->task_ns));
		cls = run_list(core, &task);
		if (npu_stops(cls))
			break;
		if (task_over(core)) {
			cls = NPU_STOPPED;
			break;
		}

		report->tasks_done++;
		if (!task.more) {
			finish(core, tasks, task.pingpong);
			if (after_task)
				after_task(arg, task.index);
			return;
		}
		npu_word_set(&core->status, 0xf000 | report->tasks_done);
		if (after_task && after_task(arg, task.index))
			cls = NPU_STOPPED;
		else if (!core->link_amount)
			cls = npu_hang(core, "next amount 0 before the last task (hw 03 C1)");
		task.addr = core->link_addr;
		task.entries = 2 * (core->link_amount + 1);
		task.index++;
	}

	/* Busy for ever, without a completion bit. Hangs have reported themselves. */
	if (cls >= NPU_FAULT)
		report->cls = cls;
	npu_word_set(&core->state, CORE_DEAD);
}
