// SPDX-License-Identifier: MIT
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kmod/prog/rkmm_chain.h"
#include "regcmd.h"

const char op_help[] =
"usage: rkmm-regcmd op NAME --m M --n N [OPTION]...\n"
"Show how an operation on C[M][N] = A[M][N] becomes tasks, or write its programs.\n"
"\n"
"NAME: add, sub, mul, max, min, div, copy, relu, clamp, leaky, exp, sigmoid, tanh, silu,\n"
"gelu, hardswish, reciprocal, rsqrt, rowmax, rowsum, rowmean, softmax, rmsnorm,\n"
"layernorm, maxpool, avgpool\n"
"\n"
"  --precision P     f16 (default), i8 or i16\n"
"  --with W          second operand: tensor (default), scalar or channel\n"
"  --value X         the scalar; clamp: lower bound; leaky: slope; norms: epsilon\n"
"  --value2 X        clamp: upper bound\n"
"  --scale X         softmax: factor; int8 curves: real value of a step of A\n"
"  --out-scale X     int8 curves: real value of a step of C\n"
"  --flat            rows one behind the other instead of channel groups\n"
"  --mask, --causal  softmax\n"
"  --gamma, --beta   norms\n"
"  --width W --kernel WxH --stride WxH\n"
"                    pooling: pixels of a line, window, step\n"
"  --za, --zb, --zo, --mult, --shift\n"
"                    integers: added to a, to b, to the result; its factor and shift\n"
"  --rows R          rows of a submission, at most M\n"
"\n"
"Without --emit one line a task is written. With it:\n"
"  --emit            write all programs as one linked chain\n"
"  --task I          of those only task I\n"
"  --base ADDR       where the chain will lie\n"
"  --a, --b, --c, --d, --temp, --const ADDR\n"
"                    device addresses of operands, temporary memory and constants\n"
"  --constants FILE  write the constants too\n"
"  --format F        words (default), text or json\n"
"\n"
"Exit status: 0, or 1 when the operation cannot be served or the arguments are wrong.\n";

enum op_format {
	OP_WORDS,
	OP_TEXT,
	OP_JSON,
};

/**
 * struct op_request - the command line
 * @op: the operation
 * @rows: rows of the submission
 * @addr: by enum rkmm_area
 * @base: address of the chain
 * @task: the only task, or UINT32_MAX
 * @emit: write programs
 * @format: how
 * @constants: file
 */
struct op_request {
	struct rkmm_op op;
	uint32_t rows, addr[RKMM_AREAS], base, task;
	bool emit;
	enum op_format format;
	const char *constants;
};

enum op_option {
	P_M, P_N, P_ROWS, P_BASE, P_TASK, P_A, P_B, P_C, P_D, P_TEMP, P_CONST, P_ZA, P_ZB, P_ZO,
	P_MULT, P_SHIFT, P_WIDTH, P_NUMBERS,
	P_PRECISION = P_NUMBERS, P_WITH, P_VALUE, P_VALUE2, P_SCALE, P_OUT_SCALE, P_FLAT, P_MASK,
	P_CAUSAL, P_GAMMA, P_BETA, P_KERNEL, P_STRIDE, P_EMIT, P_CONSTANTS, P_FORMAT,
};

static const struct option options[] = {
	{ "m", 1, 0, P_M }, { "n", 1, 0, P_N }, { "rows", 1, 0, P_ROWS }, { "base", 1, 0, P_BASE },
	{ "task", 1, 0, P_TASK }, { "a", 1, 0, P_A }, { "b", 1, 0, P_B }, { "c", 1, 0, P_C },
	{ "d", 1, 0, P_D }, { "temp", 1, 0, P_TEMP }, { "const", 1, 0, P_CONST },
	{ "za", 1, 0, P_ZA }, { "zb", 1, 0, P_ZB }, { "zo", 1, 0, P_ZO }, { "mult", 1, 0, P_MULT },
	{ "shift", 1, 0, P_SHIFT }, { "width", 1, 0, P_WIDTH },
	{ "precision", 1, 0, P_PRECISION }, { "with", 1, 0, P_WITH }, { "value", 1, 0, P_VALUE },
	{ "value2", 1, 0, P_VALUE2 }, { "scale", 1, 0, P_SCALE },
	{ "out-scale", 1, 0, P_OUT_SCALE }, { "flat", 0, 0, P_FLAT }, { "mask", 0, 0, P_MASK },
	{ "causal", 0, 0, P_CAUSAL }, { "gamma", 0, 0, P_GAMMA }, { "beta", 0, 0, P_BETA },
	{ "kernel", 1, 0, P_KERNEL }, { "stride", 1, 0, P_STRIDE }, { "emit", 0, 0, P_EMIT },
	{ "constants", 1, 0, P_CONSTANTS }, { "format", 1, 0, P_FORMAT }, { 0, 0, 0, 0 }
};

static bool parse_choice(const char *what, const char *text, const char * const *names, uint32_t n,
			 uint32_t *choice)
{
	for (*choice = 0; *choice < n; (*choice)++)
		if (names[*choice] && !strcmp(text, names[*choice]))
			return true;
	complain("%s: '%s' is unknown", what, text);
	return false;
}

static bool parse_code(const char *text, enum rkmm_op_code *code)
{
	uint32_t i;

	for (i = 0; i < RKMM_OP_COUNT; i++) {
		if (!strcmp(text, rkmm_op_name(i))) {
			*code = i;
			return true;
		}
	}
	complain("op: '%s' is no operation", text);
	return false;
}

static bool parse_real(const char *what, const char *text, uint32_t *bits)
{
	char *end;
	float v = strtof(text, &end);

	if (end == text || *end) {
		complain("%s: '%s' is not a number", what, text);
		return false;
	}
	memcpy(bits, &v, sizeof(*bits));
	return true;
}

static bool parse_pair(const char *what, const char *text, uint32_t *w, uint32_t *h)
{
	char extra;

	if (sscanf(text, "%ux%u%c", w, h, &extra) == 2)
		return true;
	complain("%s: '%s' is not WxH", what, text);
	return false;
}

static bool parse_op_number(struct op_request *r, enum op_option id, const char *text)
{
	bool sign = id == P_ZA || id == P_ZB || id == P_ZO;
	char name[32];
	int64_t v;

	snprintf(name, sizeof(name), "--%s", options[id].name);
	if (!parse_number(name, text, sign ? INT32_MIN : 0, sign ? INT32_MAX : UINT32_MAX, &v))
		return false;
	switch (id) {
	case P_M:
		r->op.m = (uint32_t)v;
		break;
	case P_N:
		r->op.n = (uint32_t)v;
		break;
	case P_ROWS:
		r->rows = (uint32_t)v;
		break;
	case P_BASE:
		r->base = (uint32_t)v;
		break;
	case P_TASK:
		r->task = (uint32_t)v;
		break;
	case P_ZA:
		r->op.quant.za = (int32_t)v;
		break;
	case P_ZB:
		r->op.quant.zb = (int32_t)v;
		break;
	case P_ZO:
		r->op.quant.zo = (int32_t)v;
		break;
	case P_MULT:
		r->op.quant.mult = (uint32_t)v;
		break;
	case P_SHIFT:
		r->op.quant.shift = (uint32_t)v;
		break;
	case P_WIDTH:
		r->op.width = (uint32_t)v;
		break;
	default:
		r->addr[RKMM_AREA_A + id - P_A] = (uint32_t)v;
		break;
	}
	return true;
}

static bool parse_op_choice(struct op_request *r, enum op_option id, const char *text)
{
	static const char * const precisions[] = {
		[RKMM_PREC_I8] = "i8", [RKMM_PREC_I16] = "i16", [RKMM_PREC_F16] = "f16",
		[RKMM_PREC_I32] = "i32",
	};
	static const char * const others[] = { "tensor", "scalar", "channel" };
	static const char * const formats[] = { "words", "text", "json" };
	uint32_t choice;

	if (id == P_PRECISION && parse_choice("--precision", text, precisions, 5, &choice))
		r->op.precision = choice;
	else if (id == P_WITH && parse_choice("--with", text, others, 3, &choice))
		r->op.other = choice;
	else if (id == P_FORMAT && parse_choice("--format", text, formats, 3, &choice))
		r->format = choice;
	else
		return false;
	return true;
}

/* Scalars are numbers of the operation's precision, which may come later. */
static bool set_values(struct op_request *r, const char * const *text)
{
	uint32_t *to[] = { &r->op.value, &r->op.value2 };
	static const char * const names[] = { "--value", "--value2" };
	bool real = r->op.precision == RKMM_PREC_F16 || r->op.code == RKMM_OP_LEAKY;
	int64_t v;
	int i;

	for (i = 0; i < 2; i++) {
		if (!text[i])
			continue;
		if (real) {
			if (!parse_real(names[i], text[i], to[i]))
				return false;
		} else {
			if (!parse_number(names[i], text[i], INT32_MIN, INT32_MAX, &v))
				return false;
			*to[i] = (uint32_t)v;
		}
	}
	return true;
}

static bool parse(int argc, char **argv, struct op_request *r)
{
	const char *values[2] = { NULL, NULL };
	int c;

	*r = (struct op_request){ .op.precision = RKMM_PREC_F16, .task = UINT32_MAX };
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		bool ok = c != '?';

		switch (c) {
		case P_PRECISION:
		case P_WITH:
		case P_FORMAT:
			ok = parse_op_choice(r, c, optarg);
			break;
		case P_VALUE:
		case P_VALUE2:
			values[c - P_VALUE] = optarg;
			break;
		case P_SCALE:
			ok = parse_real("--scale", optarg, &r->op.scale);
			break;
		case P_OUT_SCALE:
			ok = parse_real("--out-scale", optarg, &r->op.out_scale);
			break;
		case P_KERNEL:
			ok = parse_pair("--kernel", optarg, &r->op.kernel_w, &r->op.kernel_h);
			break;
		case P_STRIDE:
			ok = parse_pair("--stride", optarg, &r->op.stride_w, &r->op.stride_h);
			break;
		case P_FLAT:
			r->op.flags |= RKMM_OP_FLAT;
			break;
		case P_MASK:
			r->op.flags |= RKMM_OP_MASK;
			break;
		case P_CAUSAL:
			r->op.flags |= RKMM_OP_CAUSAL;
			break;
		case P_GAMMA:
			r->op.flags |= RKMM_OP_GAMMA;
			break;
		case P_BETA:
			r->op.flags |= RKMM_OP_BETA;
			break;
		case P_EMIT:
			r->emit = true;
			break;
		case P_CONSTANTS:
			r->constants = optarg;
			break;
		default:
			ok = ok && parse_op_number(r, c, optarg);
			break;
		}
		if (!ok)
			return false;
	}
	if (argc - optind != 1) {
		complain("op: one name is needed");
		return false;
	}
	return parse_code(argv[optind], &r->op.code) && set_values(r, values);
}

static const char *kind_name(const struct rkmm_task *task)
{
	static const char * const ews[] = {
		"copy", "add", "sub", "mul", "max", "min", "div", "lookup",
	};

	switch (task->kind) {
	case RKMM_TASK_MATMUL:
		return "matmul";
	case RKMM_TASK_MOVER:
		return "spread";
	case RKMM_TASK_POOL:
		return "pool";
	default:
		return task->dpu.minmax ? "rowmax" : ews[task->dpu.ew];
	}
}

static void print_operand(const char *name, const struct rkmm_operand *o)
{
	static const char * const layouts[] = { "rows", "weight", "batch_a", "batch_c", "cube" };

	if (o->size)
		printf("%-9s %u x %u, %u bits, %s, %" PRIu64 " bytes\n", name, o->rows, o->cols,
		       o->bits, layouts[o->layout], o->size);
}

static void print_plan(const struct op_request *r, const struct rkmm_opgeom *g)
{
	uint32_t i, n = rkmm_op_tasks(g, r->rows);
	struct rkmm_task task;

	printf("operation %s, %s\n", rkmm_op_name(g->op.code),
	       g->evidence == RKMM_EVIDENCE_CAPTURED ? "captured" : "derived");
	print_operand("A", &g->a);
	print_operand("B", &g->b);
	print_operand("C", &g->c);
	print_operand("D", &g->d);
	printf("temporary %u bytes\nconstants %u bytes\ntasks     %u, about %" PRIu64 " us\n",
	       g->temp_bytes, g->const_bytes, n, g->predicted_ns / 1000);
	printf("%5s  %-7s %6s %6s %6s  %s\n", "task", "kind", "writes", "enable", "int", "table");
	for (i = 0; i < n; i++) {
		rkmm_op_task(g, i, r->rows, r->addr, &task);
		printf("%5u  %-7s %6u   0x%02x  0x%03x  %s\n", i, kind_name(&task),
		       rkmm_task_writes(&task, NULL), task.enable,
		       task.int_mask,
		       task.kind == RKMM_TASK_DPU && task.dpu.load ?
		       rkmm_curve_facts[task.dpu.curve].name : "");
	}
}

static void print_program(const struct op_request *r, const uint64_t *words, uint32_t n, bool more)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (r->format == OP_WORDS)
			printf("%016" PRIx64, words[i]);
		else if (r->format == OP_TEXT)
			print_text(stdout, i, words[i]);
		else
			print_json(stdout, i, words[i]);
		puts(r->format == OP_JSON && (more || i + 1 < n) ? "," : "");
	}
}

/* The chain as the hardware walks it, its slots without gaps that mean anything */
static bool print_chain(const struct op_request *r, const struct rkmm_opgeom *g)
{
	uint32_t n = rkmm_op_tasks(g, r->rows), i, writes, words, addr = r->base;
	uint64_t slot[(1097 + RKMM_TAIL_WORDS + 7) / 8 * 8];
	struct rkmm_task task, next;
	bool one = r->task != UINT32_MAX, last;

	if (one && r->task >= n) {
		complain("--task: there are %u tasks", n);
		return false;
	}
	if (r->base % 64) {
		complain("--base: 0x%x is not a multiple of 64", r->base);
		return false;
	}
	if (r->format == OP_JSON)
		puts("[");
	rkmm_op_task(g, one ? r->task : 0, r->rows, r->addr, &next);
	for (i = 0; i < n; i++) {
		task = next;
		last = one || i + 1 == n;
		if (!last)
			rkmm_op_task(g, i + 1, r->rows, r->addr, &next);
		memset(slot, 0, sizeof(slot));
		writes = rkmm_task_emit(&task, NULL, slot);
		addr += rkmm_slot_bytes(writes);
		rkmm_emit_tail(slot + writes, last ? 0 : addr,
			       last ? 0 : rkmm_task_writes(&next, NULL), task.enable);
		words = one ? writes + RKMM_TAIL_WORDS : rkmm_slot_bytes(writes) / 8;
		print_program(r, slot, words, !last);
		if (last)
			break;
	}
	if (r->format == OP_JSON)
		puts("]");
	return true;
}

static bool write_constants(const struct op_request *r, const struct rkmm_opgeom *g)
{
	uint16_t *area = malloc(g->const_bytes + 1);
	FILE *f = area ? fopen(r->constants, "wb") : NULL;
	bool ok = f;

	if (ok) {
		rkmm_op_fill(g, area);
		ok = fwrite(area, 1, g->const_bytes, f) == g->const_bytes;
	}
	if (f && fclose(f))
		ok = false;
	free(area);
	if (!ok)
		complain("%s: cannot be written", r->constants);
	return ok;
}

int cmd_op(int argc, char **argv)
{
	struct rkmm_opgeom *g = malloc(sizeof(*g));
	enum rkmm_reason reason;
	struct op_request r;
	bool ok = false;

	if (!g) {
		complain("out of memory");
		return EXIT_USAGE;
	}
	if (!parse(argc, argv, &r))
		goto out;
	reason = rkmm_op_geometry(&rkmm_limits_rk3588, &r.op, g);
	if (reason != RKMM_OK) {
		complain("%s %ux%u: %s", rkmm_op_name(r.op.code), r.op.m, r.op.n,
			 rkmm_reason_text(reason));
		goto out;
	}
	if (!r.rows)
		r.rows = r.op.m;
	if (r.rows > r.op.m) {
		complain("--rows: more than M");
		goto out;
	}
	ok = !r.constants || write_constants(&r, g);
	if (ok && r.emit)
		ok = print_chain(&r, g);
	else if (ok)
		print_plan(&r, g);
out:
	free(g);
	return ok ? 0 : EXIT_USAGE;
}
