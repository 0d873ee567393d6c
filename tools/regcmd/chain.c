// SPDX-License-Identifier: MIT
/* What becomes of several operations of one submission: starts of a core, and why. */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kmod/prog/rkmm_chain.h"
#include "regcmd.h"

const char chain_help[] =
"usage: rkmm-regcmd chain [OPTION]... OPERATION...\n"
"Show how operations that run in one submission are laid in chains: each start of a core,\n"
"its tasks, whether ping-pong is on, and why a chain ends or ping-pong is off.\n"
"\n"
"OPERATION is matmul:TYPES:MxKxN, with cubes, or NAME:MxN or NAME:PRECISION:MxN with a NAME\n"
"and PRECISION of rkmm-regcmd op. Scalars and epsilons are 1.\n"
"\n"
"  --group           the operations, matmuls only, do not depend on each other; without it\n"
"                    each reads what the one before it writes\n"
"  --one-buffer      the weights of all matmuls lie in one buffer\n"
"  --json            one JSON object\n"
"\n"
"Exit status: 0, or 1 when an operation cannot be served or the arguments are wrong.\n";

#define MOST		64
#define SPACING		0x100u	/* addresses tell operands apart, nothing else */

/**
 * struct link - an operation of the command line
 * @text: as given
 * @is_matmul: which of the two
 * @geom: matmul
 * @op: any other
 */
struct link {
	const char *text;
	bool is_matmul;
	struct rkmm_geom geom;
	struct rkmm_opgeom op;
};

static bool parse_size(const char *text, const char *size, uint32_t *v, int n)
{
	char *end;
	int i;

	for (i = 0; i < n; i++, size = end + 1) {
		unsigned long long x = strtoull(size, &end, 10);

		if (*size < '0' || *size > '9' || !x || x > UINT32_MAX ||
		    *end != (i + 1 < n ? 'x' : '\0')) {
			complain("%s: '%s' are not %d sizes with x between", text, size, n);
			return false;
		}
		v[i] = (uint32_t)x;
	}
	return true;
}

static bool refuse(const char *text, enum rkmm_reason reason)
{
	if (reason == RKMM_OK)
		return true;
	complain("%s: %s", text, rkmm_reason_text(reason));
	return false;
}

static bool parse_matmul(struct link *l, const char *types, const char *size, bool group)
{
	struct rkmm_matmul mm = {
		.form = RKMM_FORM_CUBE, .lanes = group ? RKMM_LANES_MAX : 1,
	};
	uint32_t v[3];

	if (!types) {
		complain("%s: a matmul has types", l->text);
		return false;
	}
	if (!parse_types(types, &mm.types) || !parse_size(l->text, size, v, 3))
		return false;
	mm.m = v[0];
	mm.k = v[1];
	mm.n = v[2];
	if (mm.types == RKMM_T_I8I8) {
		mm.mult = 0x4000;	/* the identity of hw 02 §2 */
		mm.shift = 14;
	}
	l->is_matmul = true;
	return refuse(l->text, rkmm_geometry(&rkmm_limits_rk3588, &mm, &l->geom));
}

static bool parse_op(struct link *l, const char *name, const char *precision, const char *size)
{
	static const char * const precisions[] = {
		[RKMM_PREC_I8] = "i8", [RKMM_PREC_I16] = "i16", [RKMM_PREC_F16] = "f16",
	};
	struct rkmm_op op = { .precision = RKMM_PREC_F16 };
	uint32_t v[2], i, one = 0x3f800000;	/* 1.0 */

	for (i = 0; i < RKMM_OP_COUNT && strcmp(name, rkmm_op_name(i)); i++)
		;
	if (i == RKMM_OP_COUNT) {
		complain("%s: '%s' is no operation", l->text, name);
		return false;
	}
	op.code = i;
	for (i = 0; precision && i < sizeof(precisions) / sizeof(precisions[0]); i++)
		if (precisions[i] && !strcmp(precision, precisions[i]))
			break;
	if (precision && i == sizeof(precisions) / sizeof(precisions[0])) {
		complain("%s: '%s' is no precision", l->text, precision);
		return false;
	}
	if (precision)
		op.precision = i;
	if (!parse_size(l->text, size, v, 2))
		return false;
	op.m = v[0];
	op.n = v[1];
	if (op.code == RKMM_OP_RMSNORM || op.code == RKMM_OP_LAYERNORM)
		op.value = one;
	if (op.code == RKMM_OP_CLAMP)
		op.value2 = op.precision == RKMM_PREC_F16 ? one : 1;
	if (op.precision != RKMM_PREC_F16 && op.code >= RKMM_OP_EXP && op.code <= RKMM_OP_RSQRT) {
		op.scale = one;
		op.out_scale = one;
	}
	if (op.code == RKMM_OP_MAXPOOL || op.code == RKMM_OP_AVGPOOL) {
		op.width = op.m;
		op.kernel_w = 1;
		op.kernel_h = 1;
	}
	return refuse(l->text, rkmm_op_geometry(&rkmm_limits_rk3588, &op, &l->op));
}

static bool parse_link(struct link *l, const char *text, bool group)
{
	char copy[128], *size, *type;

	l->text = text;
	if (strlen(text) >= sizeof(copy)) {
		complain("%s: too long", text);
		return false;
	}
	strcpy(copy, text);
	size = strrchr(copy, ':');
	if (!size) {
		complain("%s: NAME:MxN is needed", text);
		return false;
	}
	*size++ = '\0';
	type = strchr(copy, ':');
	if (type)
		*type++ = '\0';
	if (!strcmp(copy, "matmul"))
		return parse_matmul(l, type, size, group);
	if (group) {
		complain("%s: only matmuls have a group", text);
		return false;
	}
	return parse_op(l, copy, type, size);
}

/* Operands at addresses of their own; the result of each is A of the next. */
static void make_members(const struct link *links, uint32_t n, bool group, bool one_buffer,
			 struct rkmm_member *members)
{
	uint32_t i, at = 1;

	for (i = 0; i < n; i++, at += 6) {
		const struct link *l = &links[i];

		members[i] = (struct rkmm_member){
			.geom = l->is_matmul ? &l->geom : NULL,
			.op = l->is_matmul ? NULL : &l->op,
			.after = !group && i,
			.rows = l->is_matmul ? l->geom.mm.m : l->op.op.m, .count = 1,
			.a = at * SPACING, .b = (at + 1) * SPACING, .c = (at + 6) * SPACING,
			.d = (at + 2) * SPACING, .temp = (at + 3) * SPACING,
			.consts = (at + 4) * SPACING,
			.weights = one_buffer ? 1 : i + 1,
		};
	}
}

static uint32_t tasks_of(const struct link *l)
{
	return l->is_matmul ? l->geom.programs : rkmm_op_tasks(&l->op, l->op.op.m);
}

static void print_kicks(const struct rkmm_extent *e, const struct rkmm_kick *kicks, bool json)
{
	uint32_t i;

	for (i = 0; i < e->kicks; i++) {
		const struct rkmm_kick *k = &kicks[i];

		if (!json) {
			printf("%5u  %4u  %5u  %-9s  %s\n", i, k->lane, k->tasks,
			       k->pingpong ? "on" : "off", k->reason ? k->reason : "");
			continue;
		}
		printf("%s\n  {\"core\": %u, \"tasks\": %u, \"pingpong\": %s, \"reason\": ",
		       i ? "," : "", k->lane, k->tasks, k->pingpong ? "true" : "false");
		if (k->reason)
			printf("\"%s\"}", k->reason);
		else
			printf("null}");
	}
}

static bool show(const struct link *links, uint32_t n, bool group, bool one_buffer, bool json)
{
	struct rkmm_member members[MOST];
	struct rkmm_kick *kicks;
	struct rkmm_extent e;
	uint64_t *image;
	uint32_t i;

	make_members(links, n, group, one_buffer, members);
	rkmm_image_measure(&rkmm_limits_rk3588, members, n, &e);
	kicks = calloc(e.kicks, sizeof(*kicks));
	image = aligned_alloc(64, (e.bytes + 63) / 64 * 64);
	if (!kicks || !image) {
		free(kicks);
		free(image);
		complain("out of memory");
		return false;
	}
	rkmm_image_emit(&rkmm_limits_rk3588, members, n, 0x10000000, image, kicks);
	if (json) {
		printf("{\"operations\": %u, \"tasks\": %u, \"bytes\": %" PRIu64 ", ", n, e.tasks,
		       e.bytes);
		printf("\"cores\": %u, \"predicted_ns\": %" PRIu64 ", \"starts\": [", e.lanes,
		       e.predicted_ns);
		print_kicks(&e, kicks, true);
		printf("]}\n");
	} else {
		for (i = 0; i < n; i++)
			printf("%s: %u tasks\n", links[i].text, tasks_of(&links[i]));
		printf("%u tasks, %u starts on %u cores, %" PRIu64 " bytes, about %" PRIu64 " us\n",
		       e.tasks, e.kicks, e.lanes, e.bytes, e.predicted_ns / 1000);
		printf("%5s  %4s  %5s  %-9s  %s\n", "start", "core", "tasks", "ping-pong", "why");
		print_kicks(&e, kicks, false);
	}
	free(kicks);
	free(image);
	return true;
}

int cmd_chain(int argc, char **argv)
{
	static const struct option options[] = {
		{ "group", 0, 0, 'g' }, { "one-buffer", 0, 0, 'o' }, { "json", 0, 0, 'j' },
		{ 0, 0, 0, 0 }
	};
	bool group = false, one_buffer = false, json = false, ok = true;
	struct link *links;
	int c, i, n;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == '?')
			return EXIT_USAGE;
		group |= c == 'g';
		one_buffer |= c == 'o';
		json |= c == 'j';
	}
	n = argc - optind;
	if (n < 1 || n > MOST) {
		complain("chain: 1 to %d operations are needed", MOST);
		return EXIT_USAGE;
	}
	links = calloc((size_t)n, sizeof(*links));
	if (!links) {
		complain("out of memory");
		return EXIT_USAGE;
	}
	for (i = 0; ok && i < n; i++)
		ok = parse_link(&links[i], argv[optind + i], group);
	if (ok)
		ok = show(links, (uint32_t)n, group, one_buffer, json);
	free(links);
	return ok ? 0 : EXIT_USAGE;
}
