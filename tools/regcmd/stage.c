// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "regcmd.h"

static bool stage_code(const char *text, enum rkmm_op_code *code)
{
	uint32_t i;

	for (i = 0; i < RKMM_OP_COUNT; i++) {
		if (!strcmp(text, rkmm_op_name(i))) {
			*code = i;
			return true;
		}
	}
	complain("--stage: '%s' is no operation", text);
	return false;
}

static bool stage_real(const char *text, uint32_t *bits)
{
	char *end;
	float v = strtof(text, &end);

	if (end == text || *end) {
		complain("--stage: '%s' is not a number", text);
		return false;
	}
	memcpy(bits, &v, sizeof(v));
	return true;
}

static bool stage_with(const char *text, enum rkmm_other *other)
{
	static const char * const names[] = { "tensor", "scalar", "channel" };
	uint32_t i;

	for (i = 0; i < 3; i++) {
		if (!strcmp(text, names[i])) {
			*other = i;
			return true;
		}
	}
	complain("--stage: with='%s' is none of tensor, scalar, channel", text);
	return false;
}

/* Zero points, factor and shift of integers */
static bool stage_number(const char *key, int32_t v, struct rkmm_op *op)
{
	struct rkmm_quant *q = &op->quant;

	if (!strcmp(key, "za"))
		q->za = v;
	else if (!strcmp(key, "zb"))
		q->zb = v;
	else if (!strcmp(key, "zo"))
		q->zo = v;
	else if (!strcmp(key, "mult"))
		q->mult = (uint32_t)v;
	else if (!strcmp(key, "shift"))
		q->shift = (uint32_t)v;
	else
		return complain("--stage: '%s' is unknown", key), false;
	return true;
}

/* "KEY=VALUE"; numbers are of the type that the matmul has */
static bool stage_key(char *text, bool real, struct rkmm_op *op)
{
	char *value = strchr(text, '=');
	uint32_t *to = NULL;
	int64_t v;

	if (!value) {
		complain("--stage: '%s' is not KEY=VALUE", text);
		return false;
	}
	*value++ = 0;
	if (!strcmp(text, "with"))
		return stage_with(value, &op->other);
	if (!strcmp(text, "scale"))
		return stage_real(value, &op->scale);
	if (!strcmp(text, "out-scale"))
		return stage_real(value, &op->out_scale);
	if (!strcmp(text, "value"))
		to = &op->value;
	else if (!strcmp(text, "value2"))
		to = &op->value2;
	if (to && (real || op->code == RKMM_OP_LEAKY))
		return stage_real(value, to);
	if (!parse_number("--stage", value, INT32_MIN, INT32_MAX, &v))
		return false;
	if (to)
		*to = (uint32_t)v;
	return to || stage_number(text, (int32_t)v, op);
}

bool parse_stages(char **text, uint32_t n, enum rkmm_types types, struct rkmm_stages *stages)
{
	bool real = rkmm_in_bits(types) == 16;
	uint32_t i;
	char *key;

	for (i = 0; i < n; i++) {
		struct rkmm_op *op = &stages->op[i];

		*op = (struct rkmm_op){ 0 };
		if (!stage_code(strtok(text[i], ","), &op->code))
			return false;
		while ((key = strtok(NULL, ",")))
			if (!stage_key(key, real, op))
				return false;
	}
	stages->n = n;
	return true;
}

/* The operation behind the matmul that stage @i is */
static const struct rkmm_opgeom *operation(const struct rkmm_epilogue *e, uint32_t i)
{
	uint32_t k;

	for (k = 0; k < e->nops; k++)
		if (e->stage[k] == i)
			return &e->op[k];
	return NULL;
}

void print_stages(const struct rkmm_stages *stages, const struct rkmm_epilogue *e)
{
	uint32_t i;

	for (i = 0; i < e->n; i++) {
		const struct rkmm_opgeom *g = operation(e, i);

		printf("stage %u     %s", i, rkmm_op_name(stages->op[i].code));
		if (e->slot[i])
			printf(", operand %c of %u bits", 'C' + e->slot[i],
			       e->operand[e->slot[i] - 1].bits);
		if (g)
			printf(": %u tasks of its own, %s\n", rkmm_op_tasks(g, g->op.m), e->why[i]);
		else
			printf(": fused, %s\n", e->why[i]);
	}
	printf("evidence    %s; %u operations behind the matmul%s\n",
	       e->evidence == RKMM_EVIDENCE_DERIVED ? "derived" : "captured", e->nops,
	       e->nops ? ", in order on one core" : "");
}

void print_stages_json(const struct rkmm_stages *stages, const struct rkmm_epilogue *e)
{
	uint32_t i;

	printf("[");
	for (i = 0; i < e->n; i++) {
		const struct rkmm_opgeom *g = operation(e, i);

		printf("%s\n  {\"stage\": \"%s\", \"fused\": %s, \"tasks\": %u, \"why\": \"%s\"}",
		       i ? "," : "", rkmm_op_name(stages->op[i].code), g ? "false" : "true",
		       g ? rkmm_op_tasks(g, g->op.m) : 0, e->why[i]);
	}
	printf("]");
}
