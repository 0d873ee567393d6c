// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datapath modes: hw 03 §2. "Chain" there is what every kick of this driver is, so int8 is
 * its mode 3 and int4 its mode 4.
 */
#include "rkmm_modes.h"
#include "rkmm_pure.h"

#define NOTHING		{ RKMM_NEED_NOTHING, RKMM_GROUNDS_SEEN, "" }
#define ROW(n, g, s)	{ RKMM_NEED_##n, RKMM_GROUNDS_##g, s }

static const struct rkmm_transition table[RKMM_MODES][RKMM_MODES] = {
	[RKMM_MODE_COLD] = {
		/* A core that never ran anything hangs until it was primed. */
		[RKMM_MODE_F16]	= ROW(RESET, POLICY, "hw 03 S5"),
		[RKMM_MODE_I8]	= ROW(RESET, SEEN, "hw 03 S3, S5, 2.1"),
		[RKMM_MODE_I4]	= ROW(RESET, POLICY, "hw 03 S5, 2.1"),
	},
	[RKMM_MODE_RESET] = {
		[RKMM_MODE_F16]	= ROW(WARM, SEEN, "hw 03 S1, 2.2"),
		[RKMM_MODE_I8]	= ROW(WARM, SEEN, "hw 03 S4, S6, 2.2"),
		[RKMM_MODE_I4]	= ROW(WARM, POLICY, "hw 03 2.2"),
	},
	[RKMM_MODE_F16] = {
		[RKMM_MODE_F16]	= NOTHING,
		/* 56 pairs without a hang, both ways right */
		[RKMM_MODE_I8]	= ROW(KEEP, SEEN, "hw 03 2.1, 2.2, 2.5"),
		[RKMM_MODE_I4]	= ROW(RESET, POLICY, "hw 03 2.1"),
	},
	[RKMM_MODE_I8] = {
		[RKMM_MODE_F16]	= ROW(KEEP, SEEN, "hw 03 2.1, 2.2, 2.5"),
		[RKMM_MODE_I8]	= NOTHING,
		[RKMM_MODE_I4]	= ROW(RESET, DISPUTED, "hw 03 S7, 2.4"),
		/* a start of its own; right in one chain with the matmul, and after a reset */
		[RKMM_MODE_DPU]	= ROW(RESET, SEEN, "hw 03 O14, hw 04 4"),
	},
	[RKMM_MODE_I4] = {
		/* One row of hw 03 2.1 says never, another one unless kept warm. */
		[RKMM_MODE_F16]	= ROW(RESET, POLICY, "hw 03 2.1"),
		[RKMM_MODE_I8]	= ROW(RESET, DISPUTED, "hw 03 S7, 2.4"),
		[RKMM_MODE_I4]	= NOTHING,
	},
};

static const char * const modes[RKMM_MODES] = {
	[RKMM_MODE_COLD]	= "cold",
	[RKMM_MODE_RESET]	= "reset",
	[RKMM_MODE_F16]		= "fp16",
	[RKMM_MODE_I8]		= "int8",
	[RKMM_MODE_I4]		= "int4",
	[RKMM_MODE_DPU]		= "dpu",
};

static const char * const needs[] = {
	[RKMM_NEED_NOTHING]	= "nothing",
	[RKMM_NEED_KEEP]	= "keep",
	[RKMM_NEED_WARM]	= "warm",
	[RKMM_NEED_CHECK]	= "check",
	[RKMM_NEED_RESET]	= "reset",
};

static const char * const grounds_names[] = {
	[RKMM_GROUNDS_SEEN]	= "seen",
	[RKMM_GROUNDS_POLICY]	= "policy",
	[RKMM_GROUNDS_DISPUTED]	= "disputed",
};

const struct rkmm_transition *rkmm_transition(enum rkmm_mode from, enum rkmm_mode to)
{
	return &table[from][to];
}

static void verdicts_fill(struct rkmm_verdicts *verdicts, enum rkmm_need most)
{
	u32 from, to;

	for (from = 0; from < RKMM_MODES; from++)
		for (to = 0; to < RKMM_MODES; to++)
			verdicts->need[from][to] = rkmm_min(table[from][to].need, most);
	/* a core that hangs is not warmed */
	if (most < RKMM_NEED_RESET)
		verdicts->need[RKMM_MODE_I8][RKMM_MODE_DPU] = RKMM_NEED_NOTHING;
}

/* What is disputed is put to the test. */
static void verdicts_prove(struct rkmm_verdicts *verdicts)
{
	u32 from, to;

	for (from = 0; from < RKMM_MODES; from++)
		for (to = 0; to < RKMM_MODES; to++)
			if (table[from][to].need == RKMM_NEED_RESET &&
			    table[from][to].grounds == RKMM_GROUNDS_DISPUTED)
				verdicts->need[from][to] = RKMM_NEED_CHECK;
}

/* Length of @word where @text begins with it, and nothing but @end comes behind it; else 0 */
static u32 takes(const char *text, const char *word, char end)
{
	u32 n = 0;

	while (word[n] && text[n] == word[n])
		n++;
	if (word[n] || (text[n] != end && !(end == ',' && !text[n])))
		return 0;
	return n;
}

/* Which of @n names @text begins with, @n for "*", behind @n for none; steps over it */
static u32 take_name(const char **text, const char * const *names, u32 n, char end)
{
	u32 i, len = takes(*text, "*", end);

	for (i = 0; !len && i < n; i++)
		len = takes(*text, names[i], end);
	if (!len)
		return n + 1;
	i = **text == '*' ? n : i - 1;
	*text += len;
	return i;
}

bool rkmm_verdicts_parse(const char *text, struct rkmm_verdicts *verdicts)
{
	u32 from, to, need, f, t, len;

	verdicts_fill(verdicts, RKMM_NEED_RESET);
	len = takes(text, "table", ',');
	if (!len) {
		len = takes(text, "warm", ',');
		if (len)
			verdicts_fill(verdicts, RKMM_NEED_WARM);
	}
	if (!len) {
		len = takes(text, "prove", ',');
		if (len)
			verdicts_prove(verdicts);
	}
	text += len;
	if (!*text)
		return true;
	for (text += !!len; ; text++) {
		from = take_name(&text, modes, RKMM_MODES, '>');
		if (from > RKMM_MODES)
			return false;
		text++;
		to = take_name(&text, modes, RKMM_MODES, '=');
		if (to > RKMM_MODES)
			return false;
		text++;
		need = take_name(&text, needs, ARRAY_SIZE(needs), ',');
		if (need >= ARRAY_SIZE(needs))
			return false;
		/* No core is ever in the mode of no matmul, nor brought back to none. */
		if (from == RKMM_MODE_DPU || to < RKMM_MODE_F16)
			return false;
		if (to == RKMM_MODE_DPU && (from != RKMM_MODE_I8 || need == RKMM_NEED_CHECK))
			return false;
		if (to == RKMM_MODE_DPU)
			verdicts->need[from][to] = need;
		/* After a reset there is nothing that another one would cure. */
		if (need >= RKMM_NEED_CHECK && from == RKMM_MODE_RESET)
			return false;
		/* fp16 has no matmuls that show harm */
		if (need == RKMM_NEED_CHECK && (to == RKMM_MODE_F16 || to == RKMM_MODES))
			return false;
		for (f = 0; f < RKMM_MODE_DPU; f++)
			for (t = RKMM_MODE_F16; t < RKMM_MODE_DPU; t++)
				if ((from == RKMM_MODES || from == f) &&
				    (to == RKMM_MODES || to == t) && f != t &&
				    !(need >= RKMM_NEED_CHECK && f == RKMM_MODE_RESET))
					verdicts->need[f][t] = need;
		if (!*text)
			return true;
	}
}

bool rkmm_verdicts_have(const struct rkmm_verdicts *verdicts, enum rkmm_need need)
{
	u32 from, to;

	for (from = 0; from < RKMM_MODES; from++)
		for (to = 0; to < RKMM_MODES; to++)
			if (verdicts->need[from][to] == need)
				return true;
	return false;
}

enum rkmm_mode rkmm_mode_of(enum rkmm_types types)
{
	switch (rkmm_in_bits(types)) {
	case 4:
		return RKMM_MODE_I4;
	case 8:
		return RKMM_MODE_I8;
	default:
		return RKMM_MODE_F16;
	}
}

const char *rkmm_mode_name(enum rkmm_mode mode)
{
	return modes[mode];
}

const char *rkmm_need_name(enum rkmm_need need)
{
	return needs[need];
}

const char *rkmm_grounds_name(enum rkmm_grounds grounds)
{
	return grounds_names[grounds];
}
