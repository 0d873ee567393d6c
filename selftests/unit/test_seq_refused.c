// SPDX-License-Identifier: MIT
/* Sequences that cannot be, and what fails while they are made or run: errors, leaks. */
#include "seq_world.h"

/* Each builds a sequence that cannot be, and says why. */
static void bad_shape(struct rkmm_seq *seq)
{
	const struct rkmm_matmul_desc mm = { .types = DRM_RKMM_F16F16 };

	rkmm_seq_matmul(seq, &mm, rkmm_seq_input(seq, DRM_RKMM_F16, 3, 4),
			rkmm_seq_input_b(seq, DRM_RKMM_F16, 5, 6));
}

static void bad_element(struct rkmm_seq *seq)
{
	rkmm_seq_binary(seq, DRM_RKMM_OP_ADD, rkmm_seq_input(seq, DRM_RKMM_F16, 3, 4),
			rkmm_seq_input(seq, DRM_RKMM_I8, 3, 4));
}

static void bad_b(struct rkmm_seq *seq)
{
	const struct rkmm_matmul_desc mm = { .types = DRM_RKMM_F16F16 };
	int x = rkmm_seq_input(seq, DRM_RKMM_F16, 4, 4);

	rkmm_seq_matmul(seq, &mm, x, rkmm_seq_unary(seq, DRM_RKMM_OP_RELU, x));
}

static void bad_wide(struct rkmm_seq *seq)
{
	const struct rkmm_matmul_desc mm = { .types = DRM_RKMM_F16F32 };

	rkmm_seq_unary(seq, DRM_RKMM_OP_RELU,
		       rkmm_seq_matmul(seq, &mm, rkmm_seq_input(seq, DRM_RKMM_F16, 3, 4),
				       rkmm_seq_input_b(seq, DRM_RKMM_F16, 4, 6)));
}

static void bad_int4(struct rkmm_seq *seq)
{
	const struct rkmm_matmul_desc mm = { .types = DRM_RKMM_I4I16 };

	rkmm_seq_matmul(seq, &mm, rkmm_seq_input(seq, DRM_RKMM_I8, 3, 4),
			rkmm_seq_input_b(seq, DRM_RKMM_I8, 4, 6));
}

static void bad_unused(struct rkmm_seq *seq)
{
	rkmm_seq_input(seq, DRM_RKMM_F16, 3, 4);
	rkmm_seq_output(seq, rkmm_seq_unary(seq, DRM_RKMM_OP_RELU,
					    rkmm_seq_input(seq, DRM_RKMM_F16, 3, 4)));
}

static void bad_lost(struct rkmm_seq *seq)
{
	rkmm_seq_unary(seq, DRM_RKMM_OP_RELU, rkmm_seq_input(seq, DRM_RKMM_F16, 3, 4));
}

static void bad_kind(struct rkmm_seq *seq)
{
	rkmm_seq_unary(seq, DRM_RKMM_OP_TRANSPOSE, rkmm_seq_input(seq, DRM_RKMM_F16, 3, 4));
}

static void bad_operand(struct rkmm_seq *seq)
{
	rkmm_seq_unary(seq, DRM_RKMM_OP_ADD, rkmm_seq_input(seq, DRM_RKMM_F16, 3, 4));
}

static void bad_second(struct rkmm_seq *seq)
{
	const struct rkmm_op_desc relu = { .kind = DRM_RKMM_OP_RELU };
	int x = rkmm_seq_input(seq, DRM_RKMM_F16, 3, 4);

	rkmm_seq_op(seq, &relu, x, x, 0);
}

static void bad_vector(struct rkmm_seq *seq)
{
	rkmm_seq_binary(seq, DRM_RKMM_OP_ADD, rkmm_seq_input(seq, DRM_RKMM_F16, 3, 4),
			rkmm_seq_vector(seq, DRM_RKMM_F16, 4));
}

static void bad_tensor(struct rkmm_seq *seq)
{
	rkmm_seq_unary(seq, DRM_RKMM_OP_RELU, 17);
}

static void bad_output(struct rkmm_seq *seq)
{
	rkmm_seq_output(seq, rkmm_seq_input(seq, DRM_RKMM_F16, 3, 4));
}

static void bad_causal(struct rkmm_seq *seq)
{
	rkmm_seq_softmax(seq, rkmm_seq_input(seq, DRM_RKMM_F16, 5, 4), 0, 1, DRM_RKMM_CAUSAL);
}

static void bad_empty(struct rkmm_seq *seq)
{
	rkmm_seq_input(seq, DRM_RKMM_F16, 0, 4);
}

static void stage(struct rkmm_seq *seq, uint32_t other, uint32_t count, int d)
{
	const struct rkmm_matmul_desc mm = { .types = DRM_RKMM_F16F16 };
	const struct rkmm_op_desc stages[5] = {
		{ .kind = DRM_RKMM_OP_ADD, .other = other },
	};

	rkmm_seq_epilogue(seq, &mm, stages, count, rkmm_seq_input(seq, DRM_RKMM_F16, 3, 4),
			  rkmm_seq_input_b(seq, DRM_RKMM_F16, 4, 6), d, 0);
}

static void bad_stages(struct rkmm_seq *seq)
{
	stage(seq, DRM_RKMM_OTHER_SCALAR, 5, 0);
}

static void bad_stage_none(struct rkmm_seq *seq)
{
	stage(seq, DRM_RKMM_OTHER_TENSOR, 1, 0);
}

static void bad_stage_other(struct rkmm_seq *seq)
{
	stage(seq, DRM_RKMM_OTHER_CHANNEL, 1, rkmm_seq_vector(seq, DRM_RKMM_F16, 6));
}

static void bad_stage_more(struct rkmm_seq *seq)
{
	stage(seq, DRM_RKMM_OTHER_SCALAR, 1, rkmm_seq_bias(seq, DRM_RKMM_F16, 6));
}

/* The first error counts, not what follows from it. */
static void bad_first(struct rkmm_seq *seq)
{
	int x = rkmm_seq_input(seq, 9, 3, 4);

	rkmm_seq_output(seq, rkmm_seq_unary(seq, DRM_RKMM_OP_RELU, x));
}

static void nothing(struct rkmm_seq *seq)
{
	(void)seq;
}

static void test_refused(void **state)
{
	static const struct {
		void (*make)(struct rkmm_seq *seq);
		int err;
		const char *says;
	} bad[] = {
		{ bad_shape, -EINVAL, "3 x 4 times 5 x 6" },
		{ bad_element, -EINVAL, "differ in elements" },
		{ bad_b, -EINVAL, "rkmm_seq_input_b()" },
		{ bad_wide, -EINVAL, "operation 2 (relu): tensor 3 cannot be operand A" },
		{ bad_int4, -EINVAL, "no such types" },
		{ bad_unused, -EINVAL, "tensor 1: no operation uses it" },
		{ bad_lost, -EINVAL, "tensor 2: a result that nobody reads" },
		{ bad_kind, -EOPNOTSUPP, "the chip does not do this operation" },
		{ bad_operand, -EINVAL, "takes two operands" },
		{ bad_second, -EINVAL, "there is no operand B" },
		{ bad_vector, -EINVAL, "a bias is needed" },
		{ bad_tensor, -EINVAL, "operand A is missing" },
		{ bad_output, -EINVAL, "no result" },
		{ bad_causal, -EINVAL, "the first of 5 rows see none" },
		{ bad_stages, -EINVAL, "5 stages, 4 are possible" },
		{ bad_stage_none, -EINVAL, "stage 0 has no operand" },
		{ bad_stage_other, -EINVAL, "operand of stage 0" },
		{ bad_stage_more, -EINVAL, "there is no operand D" },
		{ bad_empty, -EINVAL, "is empty" },
		{ bad_first, -EINVAL, "no element type" },
		{ nothing, -EINVAL, "there is no operation" },
	};
	struct rkmm_device *dev = open_dev();
	struct rkmm_seq *seq;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(rkmm_seq_create(dev, &seq), 0);
		bad[i].make(seq);
		assert_int_equal(rkmm_seq_build(seq), bad[i].err);
		if (!strstr(rkmm_seq_error(seq), bad[i].says))
			fail_msg("\"%s\" instead of \"%s\"", rkmm_seq_error(seq), bad[i].says);
		/* It stays so, and nothing runs. */
		assert_int_equal(rkmm_seq_build(seq), bad[i].err);
		assert_int_equal(rkmm_seq_run(seq), -EINVAL);
		rkmm_seq_destroy(seq);
	}
	rkmm_close(dev);
}

/* Whichever call fails: an error, no leak, and no run with half of it. */
static void test_failures(void **state)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_RKMM_PLAN_CREATE, DRM_IOCTL_RKMM_BO_CREATE, DRM_IOCTL_RKMM_BO_SYNC,
		DRM_IOCTL_RKMM_SUBMIT,
	};
	const struct rkmm_attention_desc desc = { .m = 4, .t = 6, .d = 8, .heads = 2 };
	uint16_t q[64] = { 0 }, k[96] = { 0 }, v[96] = { 0 }, out[64];
	struct rkmm_attention *att;
	struct rkmm_device *dev;
	unsigned int r, failed;
	int after, ret;

	for (r = 0; r < 4; r++) {
		for (after = 0, failed = 0; ; after++) {
			setup_cube(state);
			dev = open_dev();
			fake.fail = requests[r];
			fake.fail_errno = -ENOSPC;
			fake.fail_after = after;
			ret = rkmm_attention_create(dev, &desc, &att);
			if (!ret) {
				ret = rkmm_attention_run(att, &(struct rkmm_heads) { q, 8, 32 },
							 &(struct rkmm_heads) { k, 8, 48 },
							 &(struct rkmm_heads) { v, 8, 48 }, NULL, 0,
							 &(struct rkmm_heads) { out, 8, 32 }, 0);
				if (ret)
					assert_non_null(strstr(rkmm_attention_error(att), "window"));
			} else {
				assert_null(att);
				assert_non_null(strstr(rkmm_attention_error(NULL), "window"));
			}
			rkmm_attention_destroy(att);
			rkmm_close(dev);
			assert_int_equal(fake.bos | fake.plans | fake.maps, 0);
			if (!fake.fail) {
				assert_int_equal(ret, -ENOSPC);
				failed++;
				continue;
			}
			assert_int_equal(ret, 0);
			break;
		}
		assert_true(failed);
		fake.fail = 0;
	}
}

/* What the driver says about the run comes back. */
static void test_hang(void **state)
{
	struct rkmm_device *dev = open_dev();
	struct rkmm_seq *seq;

	(void)state;
	assert_int_equal(rkmm_seq_create(dev, &seq), 0);
	rkmm_seq_output(seq, rkmm_seq_unary(seq, DRM_RKMM_OP_RELU,
					    rkmm_seq_input(seq, DRM_RKMM_F16, 3, 4)));
	assert_int_equal(rkmm_seq_build(seq), 0);
	assert_int_equal(rkmm_seq_output(seq, 2), -EINVAL);
	assert_int_equal(rkmm_seq_write(seq, 2, NULL, 4, 0), -EINVAL);
	assert_int_equal(rkmm_seq_read(seq, 1, NULL, 4, 0), -EINVAL);
	fake.result = -EIO;
	assert_int_equal(rkmm_seq_run(seq), -EIO);
	assert_non_null(strstr(rkmm_seq_error(seq), "hung"));
	fake.result = 0;
	fake.interrupted = 1;
	assert_int_equal(rkmm_seq_run(seq), 0);
	rkmm_seq_destroy(seq);
	rkmm_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		C(test_refused), C(test_failures), C(test_hang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
