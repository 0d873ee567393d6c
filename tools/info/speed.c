// SPDX-License-Identifier: MIT
/* What makes the NPU slower than it could be: clocks, voltages, governors, heat. */
#include <stdio.h>
#include <string.h>

#include "info.h"

#define CPUFREQ		"/sys/devices/system/cpu/cpufreq/policy*"
#define MHZ		1000000ull
/* Of silicon that nobody cools; the vendor's first trip points are at 75 to 85 degrees. */
#define HOT_MILLI	85000

/* The vendor's driver has its clock in devfreq, ours in its folder of sysfs. */
static void look_clock(struct info *info)
{
	uint64_t hz, limit = 0;
	char text[TEXT];

	if (!info->npu[0])
		return;
	if (!info->clock_hz && read_number(info, &hz, "%s/rkmm/clock_hz", info->npu))
		info->clock_hz = hz;
	if (!info->clock_hz &&
	    read_number(info, &hz, "sys/class/devfreq/%.100s/cur_freq", info->name))
		info->clock_hz = hz;
	if (!info->clock_max_hz &&
	    read_number(info, &hz, "sys/class/devfreq/%.100s/max_freq", info->name))
		info->clock_max_hz = hz;
	if (!info->clock_max_hz && info->bound)
		info->clock_max_hz = 1000 * MHZ;
	if (!info->clock_hz)
		return;
	fact_number(info, "clock_hz", "clock", info->clock_hz, "%llu MHz of %llu",
		    info->clock_hz / MHZ, info->clock_max_hz / MHZ);
	fact_number(info, "clock_max_hz", NULL, info->clock_max_hz, " ");
	if (!info->bound || info->soft || info->clock_hz / MHZ >= info->clock_max_hz / MHZ)
		return;
	read_number(info, &limit, "sys/module/rkmm/parameters/clock_mhz");
	if (limit)
		problem(info, SLOWER, "clock-limited",
			"sed -i 's/ clock_mhz=[0-9]*//' /etc/modprobe.d/rkmm.conf",
			"the NPU runs at %llu MHz: rkmm was loaded with clock_mhz=%llu",
			info->clock_hz / MHZ, (unsigned long long)limit);
	else
		problem(info, SLOWER, "slow-clock",
			formatted(text, "dmesg | grep 'rkmm %.60s'", info->name),
			"the NPU runs at %llu MHz of %llu; the kernel's log says why",
			info->clock_hz / MHZ, info->clock_max_hz / MHZ);
}

/* The supply that the NPU is a consumer of, or one that is named after it */
static void look_voltage(struct info *info)
{
	char path[PATH], name[TEXT], pattern[PATH];
	unsigned int i;
	uint64_t uv;
	bool ours;

	for (i = 0; match(info, "sys/class/regulator/regulator.*", i, path); i++) {
		char consumer[PATH];

		read_line(info, name, "%s/name", path);
		snprintf(pattern, sizeof(pattern), "%.300s/%.60s-*", path, info->name);
		ours = info->name[0] && match(info, pattern, 0, consumer);
		if (!ours && (!strstr(name, "npu") || strstr(name, "mem")))
			continue;
		if (!read_number(info, &uv, "%s/microvolts", path))
			continue;
		fact_number(info, "npu_microvolts", "voltage", uv, "%llu mV (%.60s)",
			    (unsigned long long)(uv / 1000), name);
		return;
	}
}

static void look_cpus(struct info *info)
{
	char path[PATH], governor[TEXT], all[TEXT] = "";
	uint64_t now, most;
	bool slow = false;
	unsigned int i;

	for (i = 0; match(info, &CPUFREQ[1], i, path); i++) {
		if (!read_line(info, governor, "%s/scaling_governor", path))
			continue;
		read_number(info, &now, "%s/scaling_cur_freq", path);
		read_number(info, &most, "%s/cpuinfo_max_freq", path);
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%.20s %llu of %llu MHz",
			 all[0] ? ", " : "", governor, (unsigned long long)(now / 1000),
			 (unsigned long long)(most / 1000));
		slow |= !strcmp(governor, "powersave") || !strcmp(governor, "conservative");
	}
	if (all[0])
		fact(info, "cpu_governors", "CPUs", "%s", all);
	if (slow)
		problem(info, SLOWER, "cpu-governor",
			"echo performance | sudo tee " CPUFREQ "/scaling_governor",
			"the CPUs are kept slow, and they pack operands and start jobs: %s", all);
}

/* The memory controller: what few rows of A are bound by */
static void look_memory(struct info *info)
{
	char path[PATH], governor[TEXT], fix[TEXT];
	uint64_t now, most;

	if (!match(info, "sys/class/devfreq/dmc*", 0, path) ||
	    !read_line(info, governor, "%s/governor", path))
		return;
	read_number(info, &now, "%s/cur_freq", path);
	read_number(info, &most, "%s/max_freq", path);
	fact(info, "ddr_governor", "memory", "%s, %llu of %llu MHz", governor, now / MHZ,
	     most / MHZ);
	fact_number(info, "ddr_hz", NULL, now, " ");
	fact_number(info, "ddr_max_hz", NULL, most, " ");
	if (!strcmp(governor, "performance"))
		return;
	formatted(fix, "echo performance | sudo tee /%.180s/governor", path);
	if (!strcmp(governor, "powersave"))
		problem(info, SLOWER, "ddr-governor", fix,
			"memory is kept at %llu MHz, which products of few rows are bound by",
			now / MHZ);
	else
		problem(info, NOTE, "ddr-governor", fix,
			"memory goes up and down by the governor %s, which costs products of few rows",
			governor);
}

/* Cooling that is at work; the driver's own device is called rkmm. */
static void look_cooling(struct info *info, bool hot)
{
	char path[PATH], type[TEXT], fix[TEXT];
	uint64_t state, most;
	unsigned int i;

	for (i = 0; match(info, "sys/class/thermal/cooling_device*", i, path); i++) {
		if (!read_line(info, type, "%s/type", path) ||
		    !read_number(info, &state, "%s/cur_state", path))
			continue;
		read_number(info, &most, "%s/max_state", path);
		if (!strcmp(type, "rkmm")) {
			fact_number(info, "throttle_state", "throttled", state,
				    state ? "%llu of %llu steps" : "no",
				    (unsigned long long)state, (unsigned long long)most);
			if (state)
				problem(info, SLOWER, "throttled",
					formatted(fix, "echo 0 | sudo tee /%.200s/cur_state", path),
					"heat holds the NPU's clock down, %llu of %llu steps: cool it",
					(unsigned long long)state, (unsigned long long)most);
			else if (hot)
				problem(info, SLOWER, "hot",
					formatted(fix, "echo 1 | sudo tee /%.200s/cur_state", path),
					"the chip is hot, and nothing slows the NPU down");
		} else if (state && strstr(type, "cpufreq")) {
			problem(info, SLOWER, "cpu-throttled",
				"cat /sys/class/thermal/thermal_zone*/temp",
				"the CPUs are slowed down by heat (%s): cool the chip", type);
		}
	}
}

static void look_heat(struct info *info)
{
	char path[PATH], type[TEXT], worst_type[TEXT] = "";
	uint64_t milli, most = 0, npu = 0;
	unsigned int i;

	for (i = 0; match(info, "sys/class/thermal/thermal_zone*", i, path); i++) {
		if (!read_line(info, type, "%s/type", path) ||
		    !read_number(info, &milli, "%s/temp", path))
			continue;
		if (!strncmp(type, "npu", 3))
			npu = milli;
		if (milli <= most)
			continue;
		most = milli;
		memcpy(worst_type, type, sizeof(type));
	}
	if (most)
		fact_number(info, "hottest_millicelsius", "hottest", most, "%llu C (%.60s)",
			    (unsigned long long)(most / 1000), worst_type);
	if (npu)
		fact_number(info, "npu_millicelsius", "NPU heat", npu, "%llu C",
			    (unsigned long long)(npu / 1000));
	look_cooling(info, most >= HOT_MILLI);
}

void look_speed(struct info *info)
{
	look_clock(info);
	look_voltage(info);
	look_cpus(info);
	look_memory(info);
	look_heat(info);
}
