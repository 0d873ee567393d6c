// SPDX-License-Identifier: GPL-2.0-only
/*
 * Type pairs, names, and what the chip can do.
 */
#include "rkmm_pure.h"

const struct rkmm_limits rkmm_limits_rk3588 = {
	.k_max = 10752,
	.n_max = 8192,
	.banks = 12,
	.bank_bytes = 32768,
	.tasks_max = 4095,
	.amount_scale = 2,
	.light = true,
	.cost = &rkmm_cost_rk3588,
	.die = &rkmm_dies[0],
};

const struct rkmm_type_facts rkmm_type_facts[RKMM_T_COUNT] = {
	[RKMM_T_I8I32] = { "i8i32", 8, 4, 32, 32, RKMM_PREC_I8, RKMM_PREC_I32 },
	/* int8 output is right from K = 512 on only; zero padding is exact (hw 03 G26) */
	[RKMM_T_I8I8] = { "i8i8", 8, 1, 32, 512, RKMM_PREC_I8, RKMM_PREC_I8 },
	[RKMM_T_F16F32] = { "f16f32", 16, 4, 16, 32, RKMM_PREC_F16, RKMM_PREC_F32 },
	[RKMM_T_F16F16] = { "f16f16", 16, 2, 16, 32, RKMM_PREC_F16, RKMM_PREC_F16 },
	[RKMM_T_I4I16] = { "i4i16", 4, 2, 64, 32, RKMM_PREC_I4, RKMM_PREC_I16 },
};

static bool known(enum rkmm_types types)
{
	return (u32)types < RKMM_T_COUNT;
}

u32 rkmm_in_bits(enum rkmm_types types)
{
	return known(types) ? rkmm_type_facts[types].in_bits : 0;
}

u32 rkmm_out_bytes(enum rkmm_types types)
{
	return known(types) ? rkmm_type_facts[types].out_bytes : 0;
}

u32 rkmm_group(enum rkmm_types types)
{
	return known(types) ? rkmm_type_facts[types].group : 0;
}

u32 rkmm_k_min(enum rkmm_types types)
{
	return known(types) ? rkmm_type_facts[types].k_min : 0;
}

const char *rkmm_types_name(enum rkmm_types types)
{
	return known(types) ? rkmm_type_facts[types].name : "unknown";
}

const char *rkmm_form_name(enum rkmm_form form)
{
	switch (form) {
	case RKMM_FORM_FLAT:
		return "flat";
	case RKMM_FORM_BATCH:
		return "batch";
	case RKMM_FORM_CUBE:
		return "cube";
	default:
		return "unknown";
	}
}

const char *rkmm_reason_text(enum rkmm_reason reason)
{
	static const char * const text[RKMM_REASON_COUNT] = {
		[RKMM_OK] = "can be served",
		[RKMM_REASON_TYPES] = "type pair unknown",
		[RKMM_REASON_ZERO] = "a dimension is zero",
		[RKMM_REASON_K_LIMIT] = "K is beyond what one program can reduce",
		[RKMM_REASON_N_LIMIT] = "N is too large",
		[RKMM_REASON_M_LIMIT] = "M is too large",
		[RKMM_REASON_STRIDE] = "a row pitch is too small, misaligned or too large",
		[RKMM_REASON_BANKS] = "no legal split of the on-chip buffer",
		[RKMM_REASON_LAYOUT] = "the layout id does not fit the shape",
		[RKMM_REASON_SIZE] = "an operand exceeds the address window",
		[RKMM_REASON_FORM] = "the program form is not available for this shape",
		[RKMM_REASON_QUANT] = "requantisation parameters out of range",
		[RKMM_REASON_OPERATION] = "the chip does not do this operation with this type",
		[RKMM_REASON_PARAM] = "a parameter out of range, or unknown to the operation",
		[RKMM_REASON_READ_BACK] = "int32 cannot be read back: requantise in the matmul",
		[RKMM_REASON_STAGE] = "a stage of the epilogue cannot follow what is before it",
		[RKMM_REASON_SLICES] = "an epilogue needs all of K in one program",
	};

	return (u32)reason < RKMM_REASON_COUNT ? text[reason] : "unknown";
}
