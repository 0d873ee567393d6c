/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clocks, rates and voltages, power domains, reset lines, runtime PM.
 *
 * Power stays on from probe to remove: the interrupt handler starts the next
 * job, and nothing that sleeps can be done there.
 *
 *	rkmm_power.c	references, order of power-up and power-down, resets, sleep
 *	rkmm_clock.c	operating points: rate, voltage, read margin, cooling
 *	rkmm_domain.c	several power domains of one node, held while the module is loaded
 */
#ifndef RKMM_POWER_H
#define RKMM_POWER_H

#include <linux/clk.h>
#include <linux/mutex.h>
#include <linux/pm.h>
#include <linux/regulator/consumer.h>
#include <linux/reset.h>
#include "rkmm_soc.h"

struct regmap;
struct rkmm_device;
struct thermal_cooling_device;

#define RKMM_MAX_OPPS		24
#define RKMM_MAX_MARGINS	8

/* Index of the two supplies in an OPP (hw 01 §5.3). */
enum rkmm_supply {
	RKMM_VDD,
	RKMM_MEM,
	RKMM_SUPPLIES,
};

/**
 * struct rkmm_opp - one operating point, copied from the OPP table
 * @hz: core clock
 * @uv: voltage of each supply, 0 for "leave it"
 * @uv_min: lowest that will do
 * @uv_max: highest that is allowed
 */
struct rkmm_opp {
	unsigned long hz;
	unsigned long uv[RKMM_SUPPLIES];
	unsigned long uv_min[RKMM_SUPPLIES];
	unsigned long uv_max[RKMM_SUPPLIES];
};

/**
 * struct rkmm_power - supplies of the NPU; private to the files above but for rkmm_power_is_on()
 */
struct rkmm_power {
	/** @lock: serialises power transitions and rate changes; sleeps */
	struct mutex lock;
	/** @on: registers may be touched; written under @lock, read by the interrupt handler */
	bool on;
	/** @asleep: the system sleeps, under @lock */
	bool asleep;
	/** @lost: off, and it did not come back: nothing to be switched off, under @lock */
	bool lost;
	/** @users: power references, under @lock */
	unsigned int users;
	/** @runtime_pm: runtime PM was enabled by rkmm_power_init() */
	bool runtime_pm;

	/** @core_clk: the clock whose rate is the NPU's; in firmware, one for all cores */
	struct clk *core_clk;
	/** @bus_clks: without them registers read 0 or hang */
	struct clk_bulk_data *bus_clks;
	/** @nbus_clks: entries of @bus_clks */
	int nbus_clks;
	/** @resets: as in rkmm_soc.resets */
	struct reset_control *resets[RKMM_MAX_RESETS];
	/** @supplies: NULL where the device tree names none */
	struct regulator *supplies[RKMM_SUPPLIES];

	/** @opp_token: of dev_pm_opp_set_config(), or negative */
	int opp_token;
	/** @of_opps: the OPP table was made from the device tree here */
	bool of_opps;
	/** @opps: by rising rate; constant after rkmm_power_init() */
	struct rkmm_opp opps[RKMM_MAX_OPPS];
	/** @nopps: entries of @opps */
	u32 nopps;
	/** @target: rate to run at, constant after rkmm_power_init() */
	unsigned long target;
	/** @rate: rate set last, under @lock; read without it for messages and deadlines */
	unsigned long rate;
	/** @settled: voltages and margin are those of @rate, under @lock */
	bool settled;
	/** @limit: ceiling set by the cooling device, under @lock */
	unsigned long limit;
	/** @cooling: NULL when there is none */
	struct thermal_cooling_device *cooling;

	/** @grf: NPU GRF, or NULL: no read margin to set */
	struct regmap *grf;
	/** @grf_clks: what @grf needs to be written */
	struct clk *grf_clks[2];
	/** @margins: voltage from which on, read margin; by falling voltage */
	u32 margins[RKMM_MAX_MARGINS][2];
	/** @nmargins: entries of @margins */
	u32 nmargins;
	/** @margin: margin set last, under @lock; negative when unknown */
	int margin;
};

/**
 * rkmm_power_init() - find clocks, resets, supplies, domains and OPPs of rdev->dev
 * @rdev: @rdev->dev and @rdev->soc are set
 *
 * Nothing is switched on but the domains of a node that has several, see
 * rkmm_power_module_init(). Errors go through dev_err_probe(), with full unwind.
 */
int rkmm_power_init(struct rkmm_device *rdev);
void rkmm_power_fini(struct rkmm_device *rdev);

/**
 * rkmm_power_get() - power up (in the order of hw 01 §5.5) if nobody had
 * @rdev: the device
 *
 * The first reference raises voltage, margin and clock to the rated point.
 * Sleeps. On error nothing stays on.
 */
int rkmm_power_get(struct rkmm_device *rdev);

/**
 * rkmm_power_put() - drop a reference; the last one parks the clock, then powers down
 * @rdev: the device; its cores are idle and their interrupts masked
 */
void rkmm_power_put(struct rkmm_device *rdev);

/**
 * rkmm_power_cycle() - off and on again; the cores forget everything
 * @rdev: the device; no core is busy, nothing is started
 *
 * Where others hold the domain only what is the NPU's own goes off. Return: 0, or -errno: the
 * power is off, and nobody can switch it on again.
 */
int rkmm_power_cycle(struct rkmm_device *rdev);

/**
 * rkmm_power_is_on() - may registers be touched; any context
 * @rdev: the device
 */
bool rkmm_power_is_on(struct rkmm_device *rdev);

/**
 * rkmm_power_reset() - pulse the reset lines of the cores in @mask
 * @rdev: the device, powered, its cores quiet or wedged
 * @mask: bit n for core n
 *
 * The MMU banks inside the cores lose their state.
 */
int rkmm_power_reset(struct rkmm_device *rdev, u32 mask);

/**
 * rkmm_power_rate() - present core clock in Hz, really asked from the clock; sleeps
 * @rdev: the device
 */
unsigned long rkmm_power_rate(struct rkmm_device *rdev);

/**
 * rkmm_power_last_rate() - core clock in Hz as set last; any context
 * @rdev: the device
 */
unsigned long rkmm_power_last_rate(struct rkmm_device *rdev);

/**
 * rkmm_power_suspend() - system sleep: wait for idle cores, park the clock, power down
 * @rdev: the device
 */
int rkmm_power_suspend(struct rkmm_device *rdev);
/**
 * rkmm_power_resume() - undo rkmm_power_suspend() and let jobs start again
 * @rdev: the device
 */
int rkmm_power_resume(struct rkmm_device *rdev);

/* System sleep for the platform driver; the device's drvdata is the struct rkmm_device. */
extern const struct dev_pm_ops rkmm_pm_ops;

/**
 * rkmm_power_module_init() - before the platform driver is registered
 *
 * Powers the domains of nodes that have several, and keeps them until
 * rkmm_power_module_exit(). The IOMMU of such a node has banks in all of
 * them and touches every bank when it resumes; from the second time that a
 * driver is bound on, the driver core resumes it before our probe is called
 * (hw 01 §3.3). With a domain off that is an external abort.
 *
 * Never fails: what is not there yet is done by rkmm_power_init().
 */
void rkmm_power_module_init(void);
/* rkmm_power_module_exit() - after the platform driver is unregistered */
void rkmm_power_module_exit(void);

/* ---- rkmm_clock.c, for rkmm_power.c -------------------------------------- */

int rkmm_clock_init(struct rkmm_device *rdev);
void rkmm_clock_fini(struct rkmm_device *rdev);
/* rkmm_clock_start() - the domain came on: to the rated point; power.lock held */
int rkmm_clock_start(struct rkmm_device *rdev);
/* rkmm_clock_park() - to the rate that is safe while the domain goes; power.lock held, domain on */
int rkmm_clock_park(struct rkmm_device *rdev);

/* ---- rkmm_domain.c, for rkmm_power.c ------------------------------------- */

/* rkmm_rail_hold() - power the domains of a node that has several, until the module goes */
int rkmm_rail_hold(struct device *dev, const struct rkmm_soc *soc);
void rkmm_rails_init(void);
void rkmm_rails_exit(void);

#endif
