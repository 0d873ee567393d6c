// SPDX-License-Identifier: MIT
/*
 * Built-in traces, from the census of hw 03 §7. What the sheet does not have is said
 * where it is made up.
 */
#include <stdio.h>
#include <string.h>

#include "kmod/prog/rkmm_policy.h"
#include "trace.h"

#define I4	RKMM_T_I4I16
#define I8	RKMM_T_I8I32

/* Adds an operation behind others; returns its index. */
static u32 add_host(struct client *c, const char *name, u32 layer, u64 ns, const u32 *after, u32 n)
{
	char text[TRACE_NAME];
	struct op *op;
	u32 i;

	snprintf(text, sizeof(text), "%u.%s", layer, name);
	op = client_op(c, text);
	op->host_ns = ns;
	for (i = 0; i < n; i++)
		op_after(op, after[i]);
	return c->nops - 1;
}

/**
 * struct shape - a matmul of a layer
 * @name: for people
 * @types: types
 * @k: columns of A
 * @n: columns of B
 */
struct shape {
	const char *name;
	enum rkmm_types types;
	u32 k, n;
};

static u32 next_submit, next_activation;

/* Matmuls of one A, handed over together behind @after; returns the index of the first. */
static u32 add_together(struct client *c, u32 layer, u32 m, const struct shape *s, u32 n,
			const u32 *after, u32 nafter)
{
	u32 first = c->nops, i, j;

	next_submit++;
	next_activation++;
	for (i = 0; i < n; i++) {
		char text[TRACE_NAME];
		struct op *op;

		snprintf(text, sizeof(text), "%u.%s", layer, s[i].name);
		op = client_op(c, text);
		op->types = s[i].types;
		op->m = m;
		op->k = s[i].k;
		op->n = s[i].n;
		op->submit = next_submit;
		op->activation = next_activation;
		op->bytes = op_weight_bytes(op);
		op->at = c->bytes;
		c->bytes += op->bytes;
		for (j = 0; j < nafter; j++)
			op_after(op, after[j]);
	}
	return first;
}

/*
 * Qwen3-1.7B, hw 03 §7.1 and §7.2: 28 layers, 193 matmuls; the last layer's FFN runs for
 * one token on the CPU. Host time of §8: 6.0 ms a token for all that is no matmul, and to
 * rotate and quantise activations @act_ns a token, shared out by their width. How the
 * 6.0 ms are shared out is made up: half attention, the rest norms and SwiGLU.
 */
static void qwen(struct client *c, u32 m, bool mixed, u32 act_ns)
{
	const struct shape qkv[] = {
		{ "q", I4, 2048, 2048 },
		{ "k", I4, 2048, 1024 },
		{ "v", mixed ? I8 : I4, 2048, 1024 },
	};
	const struct shape o = { "o", I4, 2048, 2048 };
	const struct shape ffn[] = { { "gate", I4, 2048, 6144 }, { "up", I4, 2048, 6144 } };
	const struct shape down = { "down", mixed ? I8 : I4, 6144, 2048 };
	const u64 rest = 6000000ull * m / 28, act = (u64)act_ns * m / 28;
	u32 layer, last = 0, at, list[3];

	for (layer = 0; layer < 28; layer++) {
		at = add_host(c, "norm", layer, rest / 4 + act / 6, &last, layer ? 1 : 0);
		at = add_together(c, layer, m, qkv, 3, &at, 1);
		list[0] = at;
		list[1] = at + 1;
		list[2] = at + 2;
		at = add_host(c, "attention", layer, rest / 2 + act / 6, list, 3);
		at = add_together(c, layer, m, &o, 1, &at, 1);
		if (layer == 27) {
			add_host(c, "head", layer, rest / 4, &at, 1);
			break;
		}
		at = add_host(c, "norm2", layer, rest / 8 + act / 6, &at, 1);
		at = add_together(c, layer, m, ffn, 2, &at, 1);
		list[0] = at;
		list[1] = at + 1;
		at = add_host(c, "swiglu", layer, rest / 8 + act / 2, list, 2);
		last = add_together(c, layer, m, &down, 1, &at, 1);
	}
}

/* hw 03 §8: scalar code, as in the runs of 128 and 256 tokens, and NEON */
#define SCALAR	6600000
#define NEON	1140000

static void make_qwen(struct trace *t, u32 m, bool mixed, u32 act_ns)
{
	snprintf(t->source, sizeof(t->source),
		 "Qwen3-1.7B, one prefill pass of %u tokens: hw 03 7.%u, activations as %s", m,
		 mixed ? 2 : 1, act_ns == NEON ? "with NEON" : "measured then");
	qwen(trace_client(t, "llm", RKMM_PRIORITY_NORMAL), m, mixed, act_ns);
}

static void make_w4a4_128(struct trace *t)
{
	make_qwen(t, 128, false, SCALAR);
}

static void make_w4a4_256(struct trace *t)
{
	make_qwen(t, 256, false, SCALAR);
}

static void make_w4a4_512(struct trace *t)
{
	make_qwen(t, 512, false, NEON);
}

static void make_mixed(struct trace *t)
{
	make_qwen(t, 128, true, SCALAR);
}

static void make_mixed_neon(struct trace *t)
{
	make_qwen(t, 128, true, NEON);
}

/*
 * 27B, hw 03 §7.3: hidden 5120, FFN 17408, M = 64, 400 weights, 80 of them int8, twelve
 * windows; 64 layers, one in four with full attention. The widths of attention are not
 * documented: those here are made up. So is that the CPU takes no time between matmuls.
 */
static void make_27b(struct trace *t)
{
	const struct shape qkv[] = {
		{ "q", I4, 5120, 6144 }, { "k", I4, 5120, 1024 }, { "v", I4, 5120, 1024 },
	};
	const struct shape o = { "o", I8, 6144, 5120 };
	const struct shape linear[] = { { "in", I4, 5120, 10240 }, { "gate", I4, 5120, 6144 } };
	const struct shape out = { "out", I4, 6144, 5120 };
	const struct shape ffn[] = { { "gate", I4, 5120, 17408 }, { "up", I4, 5120, 17408 } };
	const struct shape down = { "down", I8, 17408, 5120 };
	struct client *c;
	u32 layer, at = 0, list[3], i;

	snprintf(t->source, sizeof(t->source),
		 "27B mixed, one pass of 64 tokens: hw 03 7.3; widths of attention are made up");
	t->baseline_windows = 12;
	c = trace_client(t, "llm", RKMM_PRIORITY_NORMAL);
	for (layer = 0; layer < 64; layer++) {
		bool full = layer % 4 == 3;
		u32 n = full ? 3 : 2;

		at = add_together(c, layer, 64, full ? qkv : linear, n, &at, layer ? 1 : 0);
		for (i = 0; i < n; i++)
			list[i] = at + i;
		at = add_together(c, layer, 64, full ? &o : &out, 1, list, n);
		at = add_together(c, layer, 64, ffn, 2, &at, 1);
		list[0] = at;
		list[1] = at + 1;
		at = add_together(c, layer, 64, &down, 1, list, 2);
	}
}

/*
 * MoE decode, hw 03 §7.4: int4 experts of the K = 2048 class, one token at a time, weights
 * over 7 to 16 windows. Everything else is made up: 48 layers, 128 experts of which 8 are
 * used, 2048 x 768, attention as narrow, and four tokens; 14 GiB of experts.
 */
static void make_moe(struct trace *t)
{
	const struct shape qkv[] = {
		{ "q", I4, 2048, 4096 }, { "k", I4, 2048, 512 }, { "v", I4, 2048, 512 },
	};
	const struct shape o = { "o", I4, 4096, 2048 };
	const u64 expert = 3ull * 2048 * 768 / 2;
	u32 layer, token, at = 0, i, seed = 1;
	struct client *c;

	snprintf(t->source, sizeof(t->source),
		 "MoE decode, four tokens: hw 03 7.4; all shapes but K are made up");
	t->baseline_windows = 12;
	c = trace_client(t, "llm", RKMM_PRIORITY_NORMAL);
	for (token = 0; token < 4; token++) {
		for (layer = 0; layer < 48; layer++) {
			u64 base = layer * (128 * expert + 10 * 1048576ull);
			u32 list[8], first;

			at = add_together(c, layer, 1, qkv, 3, &at, c->nops ? 1 : 0);
			for (i = 0; i < 3; i++) {
				c->ops[at + i].at = base + i * 4194304ull;
				list[i] = at + i;
			}
			at = add_together(c, layer, 1, &o, 1, list, 3);
			c->ops[at].at = base + 6291456;
			base += 10 * 1048576ull;
			/* gate and up of eight experts, then their downs */
			first = c->nops;
			next_submit++;
			next_activation++;
			for (i = 0; i < 16; i++) {
				struct op *op = client_op(c, i % 2 ? "up" : "gate");

				seed = seed * 1664525 + 1013904223;
				*op = (struct op){ .types = I4, .m = 1, .k = 2048, .n = 768,
						   .submit = next_submit,
						   .activation = next_activation };
				snprintf(op->name, TRACE_NAME, "%u.%s%u", layer,
					 i % 2 ? "up" : "gate", i / 2);
				op->bytes = op_weight_bytes(op);
				op->at = i % 2 ? c->ops[c->nops - 2].at + op->bytes :
					 base + (seed >> 20) % 128 * expert;
				op_after(op, at);
			}
			next_submit++;
			for (i = 0; i < 8; i++) {
				struct op *op = client_op(c, "down");

				*op = (struct op){ .types = I4, .m = 1, .k = 768, .n = 2048,
						   .submit = next_submit,
						   .activation = ++next_activation };
				snprintf(op->name, TRACE_NAME, "%u.down%u", layer, i);
				op->bytes = op_weight_bytes(op);
				op->at = c->ops[first + 2 * i + 1].at + op->bytes;
				op_after(op, first + 2 * i);
				op_after(op, first + 2 * i + 1);
			}
			/* eight products are added up before the next layer */
			for (i = 0; i < 8; i++)
				list[i] = c->nops - 8 + i;
			at = add_host(c, "sum", layer, 8 * 2048, list, 8);
		}
	}
	c->bytes = 48 * (128 * expert + 10 * 1048576ull);
}

/*
 * A client with the 1.7B model and one that looks at a picture every 33 ms: the 1x1
 * convolutions of MobileNet v1 at 224 x 224 as int8 matmuls.
 */
static void make_two(struct trace *t)
{
	static const u32 layers[][3] = {
		{ 12544, 32, 64 }, { 3136, 64, 128 }, { 3136, 128, 128 }, { 784, 128, 256 },
		{ 784, 256, 256 }, { 196, 256, 512 }, { 196, 512, 512 }, { 196, 512, 512 },
		{ 196, 512, 512 }, { 196, 512, 512 }, { 196, 512, 512 }, { 49, 512, 1024 },
		{ 49, 1024, 1024 },
	};
	struct client *c;
	u32 frame, i, at = 0;

	snprintf(t->source, sizeof(t->source),
		 "1.7B prefill of 128 tokens (hw 03 7.1) beside MobileNet v1 at 30 frames a second");
	qwen(trace_client(t, "llm", RKMM_PRIORITY_NORMAL), 128, false, NEON);
	c = trace_client(t, "vision", RKMM_PRIORITY_NORMAL);
	for (frame = 0; frame < 40; frame++) {
		for (i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
			struct shape s = { "conv", I8, layers[i][1], layers[i][2] };

			at = add_together(c, frame, layers[i][0], &s, 1, &at, c->nops ? 1 : 0);
			/* the same weights for every frame */
			c->ops[at].at = frame ? c->ops[i].at : c->ops[at].at;
			if (!i)
				c->ops[at].not_before_ns = frame * 33333333ull;
		}
		if (!frame)
			at = c->nops - 1;
	}
	c->bytes = c->ops[12].at + c->ops[12].bytes;
}

static const struct {
	const char *name;
	void (*make)(struct trace *t);
	const char *text;
} built_in[] = {
	{ "w4a4-128", make_w4a4_128, "1.7B W4A4 prefill, M = 128" },
	{ "w4a4-256", make_w4a4_256, "the same, M = 256" },
	{ "w4a4-512", make_w4a4_512, "the same, M = 512" },
	{ "mixed-128", make_mixed, "1.7B with attn_v and ffn_down in int8, M = 128" },
	{ "mixed-neon", make_mixed_neon, "the same with faster activations" },
	{ "27b-mixed", make_27b, "27B mixed, M = 64, several windows" },
	{ "moe-decode", make_moe, "mixture of experts, four tokens" },
	{ "two-clients", make_two, "1.7B W4A4 prefill beside small vision jobs" },
};

#define COUNT	(sizeof(built_in) / sizeof(built_in[0]))

bool trace_make(const char *name, struct trace *trace)
{
	u32 i;

	*trace = (struct trace){ .baseline_windows = 1 };
	next_submit = 0;
	next_activation = 0;
	for (i = 0; i < COUNT; i++) {
		if (strcmp(name, built_in[i].name))
			continue;
		snprintf(trace->name, sizeof(trace->name), "%s", name);
		built_in[i].make(trace);
		return true;
	}
	return false;
}

void trace_names(void)
{
	u32 i;

	for (i = 0; i < COUNT; i++)
		printf("  %-12s %s\n", built_in[i].name, built_in[i].text);
}
