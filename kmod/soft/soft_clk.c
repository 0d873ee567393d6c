// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which clocks run and how fast, hw 01 §5.2.
 *
 * The core clock belongs to firmware: its rate may change only with the domain
 * and the bus root on, and must be back at 200 MHz before the domain goes off.
 * Here a broken rule is counted; a board hangs.
 */
#include <linux/clk-provider.h>
#include <linux/clkdev.h>
#include <linux/minmax.h>

#include "soft.h"

#define SOFT_MAX_RATE	1000000000UL

static const struct {
	const char *con_id;
	const char *name;
	unsigned long rate;
} soft_clks[SOFT_CLK_COUNT] = {
	[SOFT_CLK_NPU] = { "clk_npu", "rkmm_soft_npu", SOFT_IDLE_RATE },
	[SOFT_CLK_ACLK0] = { "aclk0", "rkmm_soft_aclk0", 250000000 },
	[SOFT_CLK_ACLK1] = { "aclk1", "rkmm_soft_aclk1", 250000000 },
	[SOFT_CLK_ACLK2] = { "aclk2", "rkmm_soft_aclk2", 250000000 },
	[SOFT_CLK_HCLK0] = { "hclk0", "rkmm_soft_hclk0", 198000000 },
	[SOFT_CLK_HCLK1] = { "hclk1", "rkmm_soft_hclk1", 198000000 },
	[SOFT_CLK_HCLK2] = { "hclk2", "rkmm_soft_hclk2", 198000000 },
	[SOFT_CLK_PCLK] = { "pclk", "rkmm_soft_pclk", 100000000 },
};

static struct soft_clk *to_soft_clk(struct clk_hw *hw)
{
	return container_of(hw, struct soft_clk, hw);
}

bool soft_clk_on(struct soft_npu *npu, enum soft_clk_id id)
{
	return READ_ONCE(npu->clk[id].on);
}

static int soft_clk_enable(struct clk_hw *hw)
{
	WRITE_ONCE(to_soft_clk(hw)->on, true);
	return 0;
}

static bool soft_clk_in_use(struct soft_clk *clk)
{
	struct soft_npu *npu = clk->npu;
	unsigned int i;

	for (i = 0; i < SOFT_CORES; i++) {
		if (clk->id != SOFT_CLK_NPU && clk->id != SOFT_CLK_ACLK0 + i &&
		    clk->id != SOFT_CLK_HCLK0 + i)
			continue;
		if (soft_run_busy(&npu->core[i]))
			return true;
	}
	return false;
}

static void soft_clk_disable(struct clk_hw *hw)
{
	struct soft_clk *clk = to_soft_clk(hw);

	if (soft_clk_in_use(clk))
		soft_error(SOFT_ERR_CLOCK_OFF_WHILE_BUSY, "%s", soft_clks[clk->id].con_id);
	WRITE_ONCE(clk->on, false);
}

static int soft_clk_is_enabled(struct clk_hw *hw)
{
	return READ_ONCE(to_soft_clk(hw)->on);
}

static unsigned long soft_clk_recalc_rate(struct clk_hw *hw, unsigned long parent_rate)
{
	return to_soft_clk(hw)->rate;
}

static int soft_clk_determine_rate(struct clk_hw *hw, struct clk_rate_request *req)
{
	req->rate = clamp(req->rate, SOFT_IDLE_RATE, SOFT_MAX_RATE);
	return 0;
}

static int soft_clk_set_rate(struct clk_hw *hw, unsigned long rate, unsigned long parent_rate)
{
	struct soft_clk *clk = to_soft_clk(hw);

	if (!READ_ONCE(clk->npu->powered))
		soft_error(SOFT_ERR_RATE_DOMAIN_OFF, "%lu Hz asked for", rate);
	else if (!soft_clk_on(clk->npu, SOFT_CLK_PCLK))
		soft_error(SOFT_ERR_RATE_WITHOUT_PCLK, "%lu Hz asked for", rate);
	clk->rate = rate;
	return 0;
}

static const struct clk_ops soft_clk_gate_ops = {
	.enable = soft_clk_enable,
	.disable = soft_clk_disable,
	.is_enabled = soft_clk_is_enabled,
	.recalc_rate = soft_clk_recalc_rate,
};

static const struct clk_ops soft_clk_core_ops = {
	.enable = soft_clk_enable,
	.disable = soft_clk_disable,
	.is_enabled = soft_clk_is_enabled,
	.recalc_rate = soft_clk_recalc_rate,
	.determine_rate = soft_clk_determine_rate,
	.set_rate = soft_clk_set_rate,
};

/* The driver has let go of the device: a clock that still runs was forgotten. */
void soft_clk_check_unbound(struct soft_npu *npu)
{
	unsigned int i;

	for (i = 0; i < SOFT_CLK_COUNT; i++)
		if (soft_clk_on(npu, i))
			soft_error(SOFT_ERR_LEFT_CLOCK_ON, "%s", soft_clks[i].con_id);
}

int soft_clk_init(struct soft_npu *npu)
{
	unsigned int i;
	int ret;

	for (i = 0; i < SOFT_CLK_COUNT; i++) {
		struct soft_clk *clk = &npu->clk[i];
		struct clk_init_data init = {
			.name = soft_clks[i].name,
			.ops = i == SOFT_CLK_NPU ? &soft_clk_core_ops : &soft_clk_gate_ops,
			/* Rate and gate are asked from "firmware", as the SCMI clock's are. */
			.flags = CLK_GET_RATE_NOCACHE,
		};

		clk->npu = npu;
		clk->id = i;
		clk->rate = soft_clks[i].rate;
		clk->hw.init = &init;
		ret = devm_clk_hw_register(npu->dev, &clk->hw);
		if (ret)
			return ret;
		ret = devm_clk_hw_register_clkdev(npu->dev, &clk->hw, soft_clks[i].con_id,
						  SOFT_CHILD);
		if (ret)
			return ret;
	}
	return 0;
}
