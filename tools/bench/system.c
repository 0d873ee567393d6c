// SPDX-License-Identifier: MIT
/* What may change its speed under a measurement. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "bench.h"

/* First word of a small file, "" when there is none. */
static void word(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "r");

	text[0] = '\0';
	if (!f)
		return;
	if (!fgets(text, (int)size, f))
		text[0] = '\0';
	fclose(f);
	text[strcspn(text, " \t\n")] = '\0';
}

static void append(char *text, size_t size, const char *more)
{
	size_t have = strlen(text);

	snprintf(text + have, size - have, "%s%s", have ? ", " : "", more);
}

static int by_name(const void *x, const void *y)
{
	return strcmp(x, y);
}

/*
 * Governors of what lies in a folder of sysfs; of names that begin with prefix, or
 * that contain it. Equal ones are named once.
 */
static void governors(const char *root, const char *folder, const char *part, const char *file,
		      char *text, size_t size, bool *settled)
{
	char path[512], names[32][48], governor[32], item[96];
	struct dirent *e;
	int i, n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%.200s/%.80s", root, folder);
	dir = opendir(path);
	if (!dir)
		return;
	while (n < 32 && (e = readdir(dir))) {
		if (!strstr(e->d_name, part) || strlen(e->d_name) >= sizeof(names[0]))
			continue;
		strcpy(names[n++], e->d_name);
	}
	closedir(dir);
	qsort(names, (size_t)n, sizeof(names[0]), by_name);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%.200s/%.80s/%.47s/%.40s", root, folder, names[i],
			 file);
		word(path, governor, sizeof(governor));
		if (!governor[0])
			continue;
		snprintf(item, sizeof(item), "%.47s %.31s", names[i], governor);
		append(text, size, item);
		if (strcmp(governor, "performance"))
			*settled = false;
	}
}

void machine_read(struct machine *m, struct rkmm_device *dev, const char *root)
{
	struct utsname un;

	memset(m, 0, sizeof(*m));
	m->settled = true;
	if (dev) {
		need(rkmm_device_info(dev, &m->info));
		snprintf(m->driver, sizeof(m->driver), "%u.%u", m->info.version >> 16,
			 m->info.version & 0xffff);
	}
	if (!uname(&un))
		snprintf(m->kernel, sizeof(m->kernel), "%.60s %.16s", un.release, un.machine);
	governors(root, "sys/devices/system/cpu/cpufreq", "policy", "scaling_governor", m->cpu,
		  sizeof(m->cpu), &m->settled);
	governors(root, "sys/class/devfreq", "dmc", "governor", m->ddr, sizeof(m->ddr),
		  &m->settled);
}

void machine_print(const struct machine *m, FILE *f)
{
	if (m->driver[0]) {
		fprintf(f, "device   %s%s, %u cores, %llu MHz of %llu MHz\n", m->info.chip,
			m->info.flags & DRM_RKMM_DEVICE_SOFT ? " (software NPU)" : "",
			m->info.cores, (unsigned long long)m->info.clock_hz / 1000000,
			(unsigned long long)m->info.clock_max_hz / 1000000);
		fprintf(f, "version  rkmm %s, librkmm %s\n", m->driver, rkmm_version_string());
	}
	fprintf(f, "kernel   %s\n", m->kernel);
	fprintf(f, "governor CPU: %s; DDR: %s\n", m->cpu[0] ? m->cpu : "none seen",
		m->ddr[0] ? m->ddr : "none seen");
	if (m->info.flags & DRM_RKMM_DEVICE_SOFT)
		fprintf(f, "EMULATED the NPU is software: its times say nothing about silicon\n");
	else if (!m->settled)
		fprintf(f, "WARNING  a governor is not \"performance\": times will wander\n");
}

#define DIE_PARAMETER	"/sys/module/rkmm/parameters/die"

static char first_die[32];

static int die_write(const char *name)
{
	FILE *f = fopen(DIE_PARAMETER, "w");
	int ret = 0;

	if (!f)
		return -errno;
	if (fputs(name, f) < 0)
		ret = -errno;
	if (fclose(f) && !ret)
		ret = -errno;
	return ret;
}

static void die_restore(void)
{
	die_write(first_die);
}

void die_use(const char *name)
{
	int ret;

	if (!*first_die) {
		if (!*name)
			return;
		word(DIE_PARAMETER, first_die, sizeof(first_die));
		if (!*first_die || atexit(die_restore))
			die(EXIT_FAILED, "die:%s: " DIE_PARAMETER " is not there", name);
	}
	ret = die_write(*name ? name : first_die);
	if (ret)
		die(EXIT_FAILED, "die:%s: " DIE_PARAMETER ": %s", name, strerror(-ret));
}
