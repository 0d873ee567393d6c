// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operating points: core clock, voltages, memory read margin (hw 01 §5.2, §5.3).
 *
 * The OPP table is only where the numbers come from. dev_pm_opp_set_rate() would
 * keep an idea of the present rate of its own, which is wrong as soon as the
 * clock is parked around a power-off, and it knows nothing of the read margin.
 *
 * Firmware sets the clock and does not touch the voltage. Nothing here runs with
 * the domain off: changing, and perhaps reading, the rate then hangs the machine.
 */
#include <linux/bitfield.h>
#include <linux/clk.h>
#include <linux/mfd/syscon.h>
#include <linux/module.h>
#include <linux/nvmem-consumer.h>
#include <linux/of.h>
#include <linux/pm_opp.h>
#include <linux/regmap.h>
#include <linux/slab.h>
#include <linux/thermal.h>

#include "rkmm_device.h"

static unsigned int clock_mhz;
module_param(clock_mhz, uint, 0444);
MODULE_PARM_DESC(clock_mhz, "core clock in MHz, rounded down to an operating point (0: rated)");

/* NPU GRF: three memory groups, margin in bits 4:2 of each (hw 01 §5.3) */
#define GRF_MARGIN_REG(n)	((n) * 4)
#define GRF_MARGIN_REGS		3
#define GRF_MARGIN_MASK		GENMASK(4, 2)

static const char * const rkmm_supply_names[RKMM_SUPPLIES] = { "rknpu", "mem" };

/* ---- the OPP table ------------------------------------------------------- */

/*
 * Which points of the table are this part's: bit 0 for the usual one, 1 for
 * RK3588M, 2 for RK3588J, 4 for a customer's own (hw 01 §5.3).
 */
static int rkmm_clock_bin(struct device_node *table, const char *name, u8 *value)
{
	struct nvmem_cell *cell;
	size_t len;
	u8 *data;

	*value = 0;
	if (of_property_match_string(table, "nvmem-cell-names", name) < 0)
		return 0;
	cell = of_nvmem_cell_get(table, name);
	if (IS_ERR(cell))
		return PTR_ERR(cell);
	data = nvmem_cell_read(cell, &len);
	nvmem_cell_put(cell);
	if (IS_ERR(data))
		return PTR_ERR(data);
	if (len)
		*value = *data;
	kfree(data);
	return 0;
}

static int rkmm_clock_supported_hw(struct device_node *table, u32 *hw)
{
	u8 serial, demand;
	int ret;

	ret = rkmm_clock_bin(table, "specification_serial_number", &serial);
	if (!ret)
		ret = rkmm_clock_bin(table, "customer_demand", &demand);
	if (ret)
		return ret;

	if (demand == 0x3)
		hw[0] = BIT(4);
	else if (serial == 0xa)
		hw[0] = BIT(2);
	else if (serial == 0xd)
		hw[0] = BIT(1);
	else
		hw[0] = BIT(0);
	/* Speed grade: only the vendor's kernel measures it. The lowest needs the most. */
	hw[1] = BIT(0);
	return 0;
}

static int rkmm_clock_of_opps(struct rkmm_device *rdev, struct device_node *table)
{
	struct dev_pm_opp_config config = {};
	struct rkmm_power *power = &rdev->power;
	const char *names[RKMM_SUPPLIES + 1] = {};
	u32 hw[2], i, n = 0;
	int ret;

	/* So that the table's two voltages per point are understood. */
	for (i = 0; i < RKMM_SUPPLIES; i++)
		if (power->supplies[i])
			names[n++] = rkmm_supply_names[i];
	if (n)
		config.regulator_names = names;

	if (of_property_read_bool(table, "rockchip,supported-hw")) {
		ret = rkmm_clock_supported_hw(table, hw);
		if (ret)
			return dev_err_probe(rdev->dev, ret, "part number\n");
		config.supported_hw = hw;
		config.supported_hw_count = ARRAY_SIZE(hw);
	}

	ret = dev_pm_opp_set_config(rdev->dev, &config);
	if (ret < 0)
		return dev_err_probe(rdev->dev, ret, "OPP configuration\n");
	power->opp_token = ret;

	ret = dev_pm_opp_of_add_table(rdev->dev);
	if (ret == -EPROBE_DEFER)
		return dev_err_probe(rdev->dev, ret, "OPP table\n");
	if (ret)
		dev_warn(rdev->dev, "no usable OPP table (%d)\n", ret);
	else
		power->of_opps = true;
	return 0;
}

static void rkmm_clock_copy_opp(struct rkmm_power *power, struct dev_pm_opp *opp)
{
	struct dev_pm_opp_supply supplies[RKMM_SUPPLIES] = {};
	struct rkmm_opp *o = &power->opps[power->nopps++];
	u32 i, n = 0;

	o->hz = dev_pm_opp_get_freq(opp);
	if (!power->of_opps || dev_pm_opp_get_supplies(opp, supplies))
		return;
	for (i = 0; i < RKMM_SUPPLIES; i++) {
		if (!power->supplies[i])
			continue;
		o->uv[i] = supplies[n].u_volt;
		o->uv_min[i] = supplies[n].u_volt_min;
		o->uv_max[i] = supplies[n].u_volt_max;
		n++;
	}
}

static void rkmm_clock_copy_opps(struct rkmm_device *rdev, struct device_node *table)
{
	struct rkmm_power *power = &rdev->power;
	unsigned long hz = 0;
	u32 floor, i, s;

	for (; power->nopps < RKMM_MAX_OPPS; hz++) {
		struct dev_pm_opp *opp = dev_pm_opp_find_freq_ceil(rdev->dev, &hz);

		if (IS_ERR(opp))
			break;
		rkmm_clock_copy_opp(power, opp);
		dev_pm_opp_put(opp);
	}

	/* Cold silicon needs more (hw 01 §5.3); always giving it spares a thermometer. */
	if (!table || of_property_read_u32(table, "rockchip,low-temp-min-volt", &floor))
		return;
	for (i = 0; i < power->nopps; i++)
		for (s = 0; s < RKMM_SUPPLIES; s++) {
			struct rkmm_opp *o = &power->opps[i];

			if (!o->uv[s] || floor > o->uv_max[s])
				continue;
			o->uv[s] = max_t(unsigned long, o->uv[s], floor);
			o->uv_min[s] = max_t(unsigned long, o->uv_min[s], floor);
		}
}

/* The lowest point at @hz or above, else the highest; NULL without points. */
static const struct rkmm_opp *rkmm_clock_opp(struct rkmm_power *power, unsigned long hz)
{
	u32 i;

	if (!power->nopps)
		return NULL;
	for (i = 0; i < power->nopps - 1; i++)
		if (power->opps[i].hz >= hz)
			break;
	return &power->opps[i];
}

/* The highest rate that is a point and not above @hz, else 0. */
static unsigned long rkmm_clock_floor(struct rkmm_power *power, unsigned long hz)
{
	u32 i = power->nopps;

	while (i--)
		if (power->opps[i].hz <= hz)
			return power->opps[i].hz;
	return 0;
}

static void rkmm_clock_pick(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;
	const struct rkmm_soc *soc = rdev->soc;
	unsigned long want = clock_mhz ? clock_mhz * 1000000ul : soc->max_hz;

	power->limit = ULONG_MAX;
	power->target = max(rkmm_clock_floor(power, min(want, soc->max_hz)), soc->idle_hz);
}

/* ---- read margin --------------------------------------------------------- */

static struct clk *rkmm_clock_grf_clk(struct device_node *table, int i)
{
	struct of_phandle_args args;
	struct clk *clk;
	int ret;

	ret = of_parse_phandle_with_args(table, "rockchip,opp-clocks", "#clock-cells", i, &args);
	if (ret)
		return ret == -ENOENT ? NULL : ERR_PTR(ret);
	clk = of_clk_get_from_provider(&args);
	of_node_put(args.np);
	return clk;
}

/*
 * Where the table names no GRF there is nothing to set: the margin that firmware
 * left is good for the voltage it left.
 */
static int rkmm_clock_margin_init(struct rkmm_device *rdev, struct device_node *table)
{
	struct rkmm_power *power = &rdev->power;
	u32 cells[2 * RKMM_MAX_MARGINS];
	struct clk *clk;
	int n, i;

	power->margin = -1;
	if (!of_property_read_bool(table, "rockchip,grf"))
		return 0;
	n = of_property_read_variable_u32_array(table, "volt-mem-read-margin", cells, 2,
						ARRAY_SIZE(cells));
	if (n < 0 || n % 2)
		return 0;

	for (i = 0; i < ARRAY_SIZE(power->grf_clks); i++) {
		clk = rkmm_clock_grf_clk(table, i);
		if (IS_ERR(clk))
			return dev_err_probe(rdev->dev, PTR_ERR(clk), "clock of the NPU GRF\n");
		power->grf_clks[i] = clk;
	}
	power->grf = syscon_regmap_lookup_by_phandle(table, "rockchip,grf");
	if (IS_ERR(power->grf))
		return dev_err_probe(rdev->dev, PTR_ERR(power->grf), "NPU GRF\n");

	power->nmargins = n / 2;
	for (i = 0; i < power->nmargins; i++) {
		power->margins[i][0] = cells[2 * i];
		power->margins[i][1] = cells[2 * i + 1];
	}
	return 0;
}

/* The margin for a voltage, or -1. */
static int rkmm_clock_margin(struct rkmm_power *power, unsigned long uv)
{
	u32 i;

	for (i = 0; i < power->nmargins; i++)
		if (uv >= power->margins[i][0])
			return power->margins[i][1];
	return -1;
}

static int rkmm_clock_set_margin(struct rkmm_power *power, int margin)
{
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(power->grf_clks); i++) {
		ret = clk_prepare_enable(power->grf_clks[i]);
		if (ret)
			goto out;
	}
	for (i = 0; i < GRF_MARGIN_REGS && !ret; i++)
		ret = regmap_update_bits(power->grf, GRF_MARGIN_REG(i), GRF_MARGIN_MASK,
					 FIELD_PREP(GRF_MARGIN_MASK, margin));
	if (!ret)
		power->margin = margin;
	i = ARRAY_SIZE(power->grf_clks);
out:
	while (i--)
		clk_disable_unprepare(power->grf_clks[i]);
	return ret;
}

/* ---- rate changes -------------------------------------------------------- */

static int rkmm_clock_set_hz(struct rkmm_device *rdev, unsigned long hz)
{
	struct rkmm_power *power = &rdev->power;
	int ret;

	ret = clk_set_rate(power->core_clk, hz);
	if (ret)
		dev_err(rdev->dev, "clock to %lu Hz: %d\n", hz, ret);
	else
		WRITE_ONCE(power->rate, hz);
	return ret;
}

static int rkmm_clock_set_volt(struct rkmm_device *rdev, const struct rkmm_opp *opp, u32 supply)
{
	struct regulator *reg = rdev->power.supplies[supply];
	int ret;

	if (!reg || !opp || !opp->uv[supply])
		return 0;
	ret = regulator_set_voltage_triplet(reg, opp->uv_min[supply], opp->uv[supply],
					    opp->uv_max[supply]);
	if (ret)
		dev_err(rdev->dev, "%s to %lu uV: %d\n", rkmm_supply_names[supply],
			opp->uv[supply], ret);
	return ret;
}

/* Voltage, then margin: at a higher voltage the old margin still does. */
static int rkmm_clock_raise(struct rkmm_device *rdev, const struct rkmm_opp *opp, int margin)
{
	int ret;

	ret = rkmm_clock_set_volt(rdev, opp, RKMM_MEM);
	if (!ret)
		ret = rkmm_clock_set_volt(rdev, opp, RKMM_VDD);
	if (!ret && margin >= 0)
		ret = rkmm_clock_set_margin(&rdev->power, margin);
	return ret;
}

/* Margin, then voltage. */
static int rkmm_clock_lower(struct rkmm_device *rdev, const struct rkmm_opp *opp, int margin)
{
	int ret = 0;

	if (margin >= 0)
		ret = rkmm_clock_set_margin(&rdev->power, margin);
	if (!ret)
		ret = rkmm_clock_set_volt(rdev, opp, RKMM_VDD);
	if (!ret)
		ret = rkmm_clock_set_volt(rdev, opp, RKMM_MEM);
	return ret;
}

/*
 * The margin changes only at the idle rate, where any will do; voltages change
 * before the clock rises, or after it has fallen.
 */
static int rkmm_clock_set(struct rkmm_device *rdev, unsigned long hz)
{
	struct rkmm_power *power = &rdev->power;
	const struct rkmm_opp *opp = rkmm_clock_opp(power, hz);
	unsigned long idle = rdev->soc->idle_hz;
	bool down = power->settled && hz < power->rate;
	int margin = -1;
	int ret = 0;

	if (power->settled && hz == power->rate)
		return 0;

	if (opp && power->grf)
		margin = rkmm_clock_margin(power, opp->uv[RKMM_VDD]);
	if (margin == power->margin)
		margin = -1;

	if (power->rate > idle && (margin >= 0 || !power->settled))
		ret = rkmm_clock_set_hz(rdev, idle);
	else if (down)
		ret = rkmm_clock_set_hz(rdev, hz);
	if (ret)
		return ret;

	power->settled = false;
	ret = down ? rkmm_clock_lower(rdev, opp, margin) : rkmm_clock_raise(rdev, opp, margin);
	if (!ret && power->rate != hz)
		ret = rkmm_clock_set_hz(rdev, hz);
	power->settled = !ret;
	return ret;
}

static int rkmm_clock_run(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;
	unsigned long hz = power->target;

	lockdep_assert_held(&power->lock);
	if (hz > power->limit)
		hz = max(rkmm_clock_floor(power, power->limit), rdev->soc->idle_hz);
	return rkmm_clock_set(rdev, hz);
}

int rkmm_clock_start(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;

	/* What the GRF knew went with the domain; the rate is whoever's who had it on before. */
	power->margin = -1;
	power->settled = false;
	WRITE_ONCE(power->rate, clk_get_rate(power->core_clk));
	return rkmm_clock_run(rdev);
}

int rkmm_clock_park(struct rkmm_device *rdev)
{
	lockdep_assert_held(&rdev->power.lock);
	return rkmm_clock_set(rdev, rdev->soc->idle_hz);
}

/* ---- cooling ------------------------------------------------------------- */

/* State n: the n-th point below the target is the ceiling. */
static u32 rkmm_cooling_top(struct rkmm_power *power)
{
	u32 i = power->nopps - 1;

	while (i && power->opps[i].hz > power->target)
		i--;
	return i;
}

static int rkmm_cooling_max(struct thermal_cooling_device *cdev, unsigned long *state)
{
	struct rkmm_device *rdev = cdev->devdata;

	*state = rkmm_cooling_top(&rdev->power);
	return 0;
}

static int rkmm_cooling_get(struct thermal_cooling_device *cdev, unsigned long *state)
{
	struct rkmm_device *rdev = cdev->devdata;
	struct rkmm_power *power = &rdev->power;
	u32 top = rkmm_cooling_top(power);
	u32 i = top;

	mutex_lock(&power->lock);
	while (i && power->opps[i].hz > power->limit)
		i--;
	mutex_unlock(&power->lock);
	*state = top - i;
	return 0;
}

static int rkmm_cooling_set(struct thermal_cooling_device *cdev, unsigned long state)
{
	struct rkmm_device *rdev = cdev->devdata;
	struct rkmm_power *power = &rdev->power;
	u32 top = rkmm_cooling_top(power);
	int ret = 0;

	if (state > top)
		return -EINVAL;
	mutex_lock(&power->lock);
	power->limit = state ? power->opps[top - state].hz : ULONG_MAX;
	if (power->on)
		ret = rkmm_clock_run(rdev);
	mutex_unlock(&power->lock);
	return ret;
}

static const struct thermal_cooling_device_ops rkmm_cooling_ops = {
	.get_max_state = rkmm_cooling_max,
	.get_cur_state = rkmm_cooling_get,
	.set_cur_state = rkmm_cooling_set,
};

/* Without it the NPU still runs: the chip's own thermal shutdown does not depend on it. */
static void rkmm_cooling_init(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;
	struct thermal_cooling_device *cdev;

	if (!IS_REACHABLE(CONFIG_THERMAL) || power->target <= rdev->soc->idle_hz)
		return;
	cdev = thermal_of_cooling_device_register(rdev->dev->of_node, "rkmm", rdev,
						  &rkmm_cooling_ops);
	if (IS_ERR(cdev))
		dev_warn(rdev->dev, "no cooling device: %ld\n", PTR_ERR(cdev));
	else
		power->cooling = cdev;
}

/* -------------------------------------------------------------------------- */

static int rkmm_clock_table(struct rkmm_device *rdev, struct device_node *table)
{
	int ret;

	/* The software NPU's parent has made the table already. */
	if (dev_pm_opp_get_opp_count(rdev->dev) <= 0 && table) {
		/* Raising the rate at a voltage that nobody knows is no option. */
		if (!rdev->power.supplies[RKMM_VDD]) {
			dev_warn(rdev->dev, "no rknpu-supply: the clock stays at %lu MHz\n",
				 rdev->soc->idle_hz / 1000000);
			return 0;
		}
		ret = rkmm_clock_of_opps(rdev, table);
		if (!ret)
			ret = rkmm_clock_margin_init(rdev, table);
		if (ret)
			return ret;
	}
	rkmm_clock_copy_opps(rdev, table);
	return 0;
}

int rkmm_clock_init(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;
	struct device_node *table = NULL;
	int ret;

	power->opp_token = -1;
	power->margin = -1;
	/* What firmware or the device tree parked it at; asking needs the domain on. */
	power->rate = rdev->soc->idle_hz;

	if (rdev->dev->of_node)
		table = of_parse_phandle(rdev->dev->of_node, "operating-points-v2", 0);
	ret = rkmm_clock_table(rdev, table);
	of_node_put(table);
	if (ret) {
		rkmm_clock_fini(rdev);
		return ret;
	}

	rkmm_clock_pick(rdev);
	rkmm_cooling_init(rdev);
	return 0;
}

void rkmm_clock_fini(struct rkmm_device *rdev)
{
	struct rkmm_power *power = &rdev->power;
	int i;

	/* Ends all calls into us, before anything that they need goes. */
	if (power->cooling)
		thermal_cooling_device_unregister(power->cooling);
	power->cooling = NULL;

	for (i = 0; i < ARRAY_SIZE(power->grf_clks); i++) {
		clk_put(power->grf_clks[i]);
		power->grf_clks[i] = NULL;
	}
	if (power->of_opps)
		dev_pm_opp_of_remove_table(rdev->dev);
	power->of_opps = false;
	if (power->opp_token >= 0)
		dev_pm_opp_clear_config(power->opp_token);
	power->opp_token = -1;
}
