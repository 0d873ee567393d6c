// SPDX-License-Identifier: MIT
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kmod/prog/rkmm_regs.h"
#include "kmod/soft/model/npu_model.h"
#include "regcmd.h"

const char run_help[] =
"usage: rkmm-regcmd run --entry ADDR --amount N [OPTION]...\n"
"Execute programs on the software NPU: one start of one core, laws on, random\n"
"quirks off.\n"
"\n"
"  --words FILE@ADDR       a program (one hex word per line, or binary) at ADDR\n"
"  --load FILE@ADDR        raw bytes at ADDR\n"
"  --map ADDR:LEN          zeroed memory\n"
"  --dump ADDR:LEN=FILE    write that memory to FILE after the run; it is mapped\n"
"                          zeroed where nothing was loaded\n"
"  --entry ADDR            address of the first program\n"
"  --amount N              its register writes, without the tail\n"
"  --tasks T               programs to execute (default 1)\n"
"  --pingpong              fetch the next program while one runs\n"
"  --core C                core 0, 1 or 2\n"
"\n"
"Mapped ranges grow to whole pages of 4096 bytes, with a read-only page of zeros\n"
"behind each; any other access is a fault.\n"
"\n"
"Exit status: 0 good, 1 usage or unreadable files, 2 hang or fault, 3 a law of\n"
"the sheets is broken: its failure class and its place are printed.\n";

#define MOST_FILES	64
#define MOST_LOAD	(1u << 30)

struct item {
	char *path;
	uint32_t addr, len;
};

/**
 * struct run_request - the command line
 * @space: memory
 * @dumps: what to write afterwards
 * @dump_count: how many
 * @entry: first program
 * @amount: its register writes
 * @tasks: programs
 * @core: core number
 * @pingpong: ping-pong
 */
struct run_request {
	struct space space;
	struct item dumps[MOST_FILES];
	size_t dump_count;
	uint32_t entry, amount, tasks, core;
	bool pingpong;
};

static int env_read(void *ctx, u32 addr, void *dst, u32 len, u32 *fault)
{
	return space_read(ctx, addr, dst, len, fault) ? 0 : -1;
}

static int env_write(void *ctx, u32 addr, const void *src, u32 len, u32 *fault)
{
	return space_write(ctx, addr, src, len, fault) ? 0 : -1;
}

/* Bytes of a file, or its words in the order the NPU fetches them, into memory. */
static bool load(struct space *space, const char *option, const char *text)
{
	bool as_words = !strcmp(option, "--words");
	uint8_t *data = NULL;
	uint32_t addr, fault;
	struct words words;
	size_t len, i, j;
	char *path;
	bool ok = false;

	if (!parse_file_at(option, text, &path, &addr))
		return false;
	if (!as_words) {
		data = read_file(path, MOST_LOAD, &len);
	} else if (read_words(path, &words)) {
		len = words.n * 8;
		data = malloc(len);
		for (i = 0; data && i < words.n; i++)
			for (j = 0; j < 8; j++)
				data[8 * i + j] = (uint8_t)(words.v[i] >> 8 * j);
		free(words.v);
		if (!data)
			complain("%s: out of memory", path);
	}
	if (data && !len)
		complain("%s: empty", path);
	else if (data)
		ok = space_map(space, addr, len) && space_write(space, addr, data, len, &fault);
	free(data);
	free(path);
	return ok;
}

static bool parse_run(int argc, char **argv, struct run_request *r)
{
	static const struct option options[] = {
		{ "words", 1, 0, 'w' }, { "load", 1, 0, 'l' }, { "map", 1, 0, 'm' },
		{ "dump", 1, 0, 'd' }, { "entry", 1, 0, 'e' }, { "amount", 1, 0, 'a' },
		{ "tasks", 1, 0, 't' }, { "pingpong", 0, 0, 'p' }, { "core", 1, 0, 'c' },
		{ 0, 0, 0, 0 }
	};
	bool entry = false, amount = false;
	struct item item;
	int64_t v = 0;
	int c;

	r->tasks = 1;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		bool ok = true;

		switch (c) {
		case 'w':
			ok = load(&r->space, "--words", optarg);
			break;
		case 'l':
			ok = load(&r->space, "--load", optarg);
			break;
		case 'm':
			ok = parse_range("--map", optarg, &item.addr, &item.len, NULL) &&
			     space_map(&r->space, item.addr, item.len);
			break;
		case 'd':
			if (r->dump_count == MOST_FILES) {
				complain("more than %d dumps", MOST_FILES);
				return false;
			}
			ok = parse_range("--dump", optarg, &item.addr, &item.len, &item.path);
			if (ok) {
				r->dumps[r->dump_count++] = item;
				ok = space_map(&r->space, item.addr, item.len);
			}
			break;
		case 'e':
			ok = parse_number("--entry", optarg, 0, UINT32_MAX, &v);
			r->entry = (uint32_t)v;
			entry = true;
			break;
		case 'a':
			ok = parse_number("--amount", optarg, 1, 131064, &v);
			r->amount = (uint32_t)v;
			amount = true;
			break;
		case 't':
			ok = parse_number("--tasks", optarg, 1, rkmm_limits_rk3588.tasks_max, &v);
			r->tasks = (uint32_t)v;
			break;
		case 'p':
			r->pingpong = true;
			break;
		case 'c':
			ok = parse_number("--core", optarg, 0, 2, &v);
			r->core = (uint32_t)v;
			break;
		default:
			return false;
		}
		if (!ok)
			return false;
	}
	if (optind != argc) {
		complain("run: '%s' is no option", argv[optind]);
		return false;
	}
	if (!entry || !amount) {
		complain("run: --%s is missing", entry ? "amount" : "entry");
		return false;
	}
	if (r->entry % 16) {
		complain("--entry: 0x%x is not a multiple of 16", r->entry);
		return false;
	}
	return space_guard(&r->space);
}

/* The kernel's register sequence: hw 01 §2.1. */
static bool start(struct npu_core *core, const struct run_request *r)
{
	u32 pointer = FIELD_PREP(S_POINTER_PP_MODE, 1) | FIELD_PREP(S_POINTER_EXECUTER_PP_EN, 1) |
		      FIELD_PREP(S_POINTER_POINTER_PP_EN, 1) |
		      FIELD_PREP(S_POINTER_CORE_INDEX, r->core);

	npu_core_write(core, PC_BASE_ADDRESS, PC_BASE_ADDRESS_SLAVE);
	npu_core_write(core, CNA_S_POINTER, pointer);
	npu_core_write(core, CORE_S_POINTER, pointer);
	npu_core_write(core, PC_BASE_ADDRESS, r->entry);
	npu_core_write(core, PC_REGISTER_AMOUNTS, rkmm_amount(r->amount));
	npu_core_write(core, PC_INT_MASK, RKMM_INT_DPU);
	npu_core_write(core, PC_INT_CLEAR, PC_INT_CLEAR_ALL);
	npu_core_write(core, PC_TASK_CON, FIELD_PREP(PC_TASK_CON_RESERVED, 1) |
					  FIELD_PREP(PC_TASK_CON_COUNT_CLEAR, 1) |
					  FIELD_PREP(PC_TASK_CON_PINGPONG, r->pingpong ? 1 : 0) |
					  FIELD_PREP(PC_TASK_CON_NUMBER, r->tasks));
	npu_core_write(core, PC_TASK_DMA_BASE, 0);
	return npu_core_write(core, PC_OP_EN, 1);
}

static int tell(struct npu_core *core, const struct run_request *r,
		const struct npu_report *report)
{
	bool bad = report->cls != NPU_OK || report->tasks_done < r->tasks;

	/* The register's count is gone once the interrupt is up (hw 01 §1.2). */
	printf("task counter:     %u of %u (task status register 0x%08x)\n",
	       report->tasks_done, r->tasks, npu_core_read(core, PC_TASK_STATUS));
	printf("interrupt status: 0x%08x\n", npu_core_read(core, PC_INT_STATUS));
	printf("interrupt raw:    0x%08x\n", npu_core_read(core, PC_INT_RAW_STATUS));
	if (report->cls == NPU_FAULT)
		printf("fault:            %s 0x%08x in task %u\n",
		       report->fault_write ? "write" : "read", report->fault_addr, report->task);
	else
		printf("fault:            none\n");
	if (report->law)
		printf("law:              broken in task %u: %s\n", report->task, report->law);
	else
		printf("law:              none broken\n");
	printf("class:            %s\n", npu_class_name(report->cls));
	printf("work:             %" PRIu64 " MAC, %" PRIu64 " bytes read, %" PRIu64 " written\n",
	       report->macs, report->read_bytes, report->write_bytes);
	if (report->unknown_regs)
		printf("unknown:          %u register writes\n", report->unknown_regs);
	if (report->law) {
		complain("law broken in task %u: %s: %s", report->task,
			 npu_class_name(report->cls), report->law);
		return EXIT_LAW;
	}
	if (bad)
		complain("%s after %u of %u tasks",
			 report->cls == NPU_OK ? "stopped" : npu_class_name(report->cls),
			 report->tasks_done, r->tasks);
	return bad ? EXIT_HANG : 0;
}

static bool dump(const struct space *space, const struct item *item)
{
	uint8_t *data = malloc(item->len);
	uint32_t fault;
	FILE *out;
	bool ok;

	if (!data || !space_read(space, item->addr, data, item->len, &fault)) {
		complain("%s: out of memory", item->path);
		free(data);
		return false;
	}
	out = fopen(item->path, "wb");
	ok = out && fwrite(data, 1, item->len, out) == item->len;
	if (out && fclose(out))
		ok = false;
	if (!ok)
		complain("%s: %s", item->path, strerror(errno));
	free(data);
	return ok;
}

int cmd_run(int argc, char **argv)
{
	struct run_request *r = calloc(1, sizeof(*r));
	void *mem = aligned_alloc(64, NPU_CORE_BYTES);
	struct npu_report report = { .cls = NPU_OK };
	int status = EXIT_USAGE;
	struct npu_core *core;
	struct npu_env env;
	size_t i;

	if (!r || !mem) {
		complain("out of memory");
		goto out;
	}
	if (!space_init(&r->space) || !parse_run(argc, argv, r))
		goto out;
	env = (struct npu_env){ .ctx = &r->space, .read = env_read, .write = env_write };
	core = npu_core_init(mem, r->core, &env);
	npu_core_set_laws(core, true);
	if (start(core, r))
		npu_core_run(core, NULL, NULL, &report);
	else
		report.cls = NPU_HANG_0;
	npu_core_write(core, PC_OP_EN, 0);
	status = tell(core, r, &report);
	for (i = 0; i < r->dump_count; i++)
		if (!dump(&r->space, &r->dumps[i]) && !status)
			status = EXIT_USAGE;
out:
	if (r) {
		for (i = 0; i < r->dump_count; i++)
			free(r->dumps[i].path);
		space_free(&r->space);
	}
	free(r);
	free(mem);
	return status;
}
