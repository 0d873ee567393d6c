// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which misbehaviour is asked for: one row per fault switch, one state per core.
 *
 * A switch is armed with VALUE:JOBS:SKIP:CHANCE. It acts on JOBS jobs (0: until it is
 * disarmed) after letting SKIP jobs pass, each time with a chance of CHANCE in a thousand
 * (0: always). Rows that are a plain count are armed with JOBS:SKIP:CHANCE, rows that are a
 * level with VALUE. Switches outlive unbind and
 * bind of the device.
 */
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "soft.h"

struct soft_switch_row {
	const char *name;
	/** @value: the first number is a value, not the number of jobs */
	bool value;
	/** @level: in force as long as it is set: there is no number of jobs */
	bool level;
};

static const struct soft_switch_row soft_switch_rows[SOFT_SW_COUNT] = {
	[SOFT_SW_NEVER_START] = { .name = "never_start" },
	[SOFT_SW_STALL] = { .name = "stall", .value = true },
	[SOFT_SW_LOST_IRQ] = { .name = "lost_irq" },
	[SOFT_SW_ERROR_IRQ] = { .name = "error_irq", .value = true },
	[SOFT_SW_SLOW] = { .name = "slow", .value = true, .level = true },
	[SOFT_SW_DELAY_US] = { .name = "delay_us", .value = true, .level = true },
	[SOFT_SW_EVICT] = { .name = "evict" },
	[SOFT_SW_FAULT_BITS] = { .name = "fault_bits", .value = true, .level = true },
	[SOFT_SW_NARROW_K] = { .name = "narrow_k", .value = true, .level = true },
	[SOFT_SW_FEATURE_CACHE] = { .name = "feature_cache", .value = true, .level = true },
	[SOFT_SW_OUTPUT_MOVE] = { .name = "output_move", .value = true, .level = true },
	[SOFT_SW_INT8_WEDGE] = { .name = "int8_wedge", .value = true, .level = true },
	[SOFT_SW_LATE_OUTPUT] = { .name = "late_output", .value = true, .level = true },
	[SOFT_SW_TRANSITION] = { .name = "transition", .value = true, .level = true },
	[SOFT_SW_UNTOUCHED] = { .name = "untouched", .value = true, .level = true },
	[SOFT_SW_COLD] = { .name = "cold", .value = true, .level = true },
	[SOFT_SW_MAPPINGS] = { .name = "mappings", .value = true, .level = true },
	[SOFT_SW_WEDGE] = { .name = "wedge" },
	[SOFT_SW_PARTIAL_DONE] = { .name = "partial_done", .value = true },
	[SOFT_SW_EARLY_IRQ] = { .name = "early_irq" },
	[SOFT_SW_SPURIOUS_IRQ] = { .name = "spurious_irq" },
	[SOFT_SW_RESET_FAIL] = { .name = "reset_fail" },
	[SOFT_SW_POWER_FAIL] = { .name = "power_fail" },
};

struct soft_switch_state {
	u32 value;
	u32 jobs;
	u32 skip;
	/** @chance: in a thousand, 0: always */
	u32 chance;
	/** @random: of the draws */
	u32 random;
	/** @fired: jobs it acted on since the module was loaded */
	u32 fired;
};

static DEFINE_SPINLOCK(switch_lock);
static struct soft_switch_state switches[SOFT_CORES][SOFT_SW_COUNT];

static unsigned int soft_fault_seed = 1;
module_param_named(fault_seed, soft_fault_seed, uint, 0600);
MODULE_PARM_DESC(fault_seed, "seed of switches with a chance; read when one is armed");

/* Does the switch act this time? Lock held. */
static bool soft_switch_draw(struct soft_switch_state *state)
{
	if (!state->chance)
		return true;
	state->random ^= state->random << 13;
	state->random ^= state->random >> 17;
	state->random ^= state->random << 5;
	return state->random % 1000 < state->chance;
}

/* The value it is armed with, or 0. */
u32 soft_switch_peek(u32 core, enum soft_switch sw)
{
	return READ_ONCE(switches[core][sw].value);
}

/* Ask once per job: the value if the switch acts on this one, else 0. */
u32 soft_switch_take(u32 core, enum soft_switch sw)
{
	struct soft_switch_state *state = &switches[core][sw];
	unsigned long flags;
	u32 value = 0;

	if (!soft_switch_peek(core, sw))
		return 0;
	spin_lock_irqsave(&switch_lock, flags);
	if (state->skip) {
		state->skip--;
	} else if (soft_switch_draw(state)) {
		value = state->value;
		state->fired += !!value;
		if (state->jobs && !--state->jobs)
			WRITE_ONCE(state->value, 0);
	}
	spin_unlock_irqrestore(&switch_lock, flags);
	return value;
}

/* "5", "5:1", "5:1:3", "5:1:3:20"; separators may be blanks too */
static int soft_switch_arm(u32 core, enum soft_switch sw, char *text)
{
	const struct soft_switch_row *row = &soft_switch_rows[sw];
	u32 number[4] = { 0, 0, 0, 0 };
	unsigned int n = 0, max = row->level ? 1 : row->value ? 4 : 3;
	struct soft_switch_state *state = &switches[core][sw];
	unsigned long flags;
	char *word;
	int ret;

	while ((word = strsep(&text, ": \t\n"))) {
		if (!*word)
			continue;
		if (n == max)
			return -EINVAL;
		ret = kstrtou32(word, 0, &number[n++]);
		if (ret)
			return ret;
	}
	if (!n)
		return -EINVAL;

	spin_lock_irqsave(&switch_lock, flags);
	if (row->value) {
		state->value = number[0];
		state->jobs = number[1];
		state->skip = number[2];
		state->chance = number[3];
	} else {
		state->value = !!number[0];
		state->jobs = number[0];
		state->skip = number[1];
		state->chance = number[2];
	}
	/* a shift register that is 0 stays so */
	state->random = (READ_ONCE(soft_fault_seed) * 0x9e3779b9u + core * SOFT_SW_COUNT + sw) | 1;
	spin_unlock_irqrestore(&switch_lock, flags);
	return 0;
}

static int soft_switch_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < SOFT_SW_COUNT; i++)
		if (!strcmp(soft_switch_rows[i].name, name))
			return i;
	return -EINVAL;
}

/* "CORE.NAME=NUMBERS,..."; CORE may be * */
static int soft_switch_parse(char *text)
{
	char *rule, *name, *numbers, *copy;
	u32 core, first, last;
	int sw, ret;

	while ((rule = strsep(&text, ",\n"))) {
		if (!*rule)
			continue;
		numbers = strchr(rule, '=');
		name = strchr(rule, '.');
		if (!numbers || !name || name > numbers)
			return -EINVAL;
		*numbers++ = '\0';
		*name++ = '\0';
		sw = soft_switch_find(name);
		if (sw < 0)
			return sw;
		first = 0;
		last = SOFT_CORES - 1;
		if (strcmp(rule, "*")) {
			ret = kstrtou32(rule, 0, &first);
			if (ret)
				return ret;
			if (first >= SOFT_CORES)
				return -EINVAL;
			last = first;
		}
		for (core = first; core <= last; core++) {
			copy = kstrdup(numbers, GFP_KERNEL);
			if (!copy)
				return -ENOMEM;
			ret = soft_switch_arm(core, sw, copy);
			kfree(copy);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static int soft_switch_param_set(const char *val, const struct kernel_param *kp)
{
	char *text = kstrdup(val, GFP_KERNEL);
	int ret;

	if (!text)
		return -ENOMEM;
	ret = soft_switch_parse(text);
	kfree(text);
	return ret;
}

static const struct kernel_param_ops soft_switch_param_ops = {
	.set = soft_switch_param_set,
};

module_param_cb(faults, &soft_switch_param_ops, NULL, 0200);
MODULE_PARM_DESC(faults, "fault switches: CORE.NAME=NUMBERS,... (Documentation/soft-npu.rst)");

/* debugfs: a file per switch; its inode's data is its state */
static void soft_switch_of(struct file *file, u32 *core, u32 *sw)
{
	struct soft_switch_state *state = file_inode(file)->i_private;
	unsigned int at = state - &switches[0][0];

	*core = at / SOFT_SW_COUNT;
	*sw = at % SOFT_SW_COUNT;
}

static int soft_switch_show(struct seq_file *s, void *unused)
{
	struct soft_switch_state *p = s->private, state;
	unsigned long flags;

	spin_lock_irqsave(&switch_lock, flags);
	state = *p;
	spin_unlock_irqrestore(&switch_lock, flags);
	seq_printf(s, "value %u jobs %u skip %u chance %u fired %u\n", state.value, state.jobs,
		   state.skip, state.chance, state.fired);
	return 0;
}

static int soft_switch_open(struct inode *inode, struct file *file)
{
	return single_open(file, soft_switch_show, inode->i_private);
}

static ssize_t soft_switch_write(struct file *file, const char __user *ubuf, size_t len,
				 loff_t *pos)
{
	u32 core, sw;
	char *text;
	int ret;

	if (len > 64)
		return -EINVAL;
	text = memdup_user_nul(ubuf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	soft_switch_of(file, &core, &sw);
	ret = soft_switch_arm(core, sw, text);
	kfree(text);
	return ret ?: len;
}

static const struct file_operations soft_switch_fops = {
	.owner = THIS_MODULE,
	.open = soft_switch_open,
	.read = seq_read,
	.write = soft_switch_write,
	.llseek = seq_lseek,
	.release = single_release,
};

void soft_switch_debugfs(struct dentry *dir, u32 core)
{
	unsigned int i;

	for (i = 0; i < SOFT_SW_COUNT; i++)
		debugfs_create_file(soft_switch_rows[i].name, 0600, dir, &switches[core][i],
				    &soft_switch_fops);
}
