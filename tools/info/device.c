// SPDX-License-Identifier: MIT
/* What the driver tells: through its node, and in sysfs to everybody. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "info.h"
#include "lib/rkmm.h"

/* of what the driver's file envelope begins with */
#define ENVELOPE_HEADER	64
#define ENVELOPE_CELLS	12

static void look_opened(struct info *info, const struct drm_rkmm_device_info *d)
{
	fact(info, "chip", "chip", "%.16s%s", d->chip,
	     d->flags & DRM_RKMM_DEVICE_UNVALIDATED ? " (never checked by rkmm)" : "");
	fact_number(info, "cores", "cores", d->cores, "%u, in service: mask 0x%x", d->cores,
		    d->core_mask);
	fact_number(info, "core_mask", NULL, d->core_mask, "%u", d->core_mask);
	fact(info, "interface", "interface", "%u.%u", d->version >> 16, d->version & 0xffff);
	fact(info, "isolation", "isolation", "%s",
	     d->flags & DRM_RKMM_DEVICE_STRICT ? "strict" : "shared");
	info->clock_hz = d->clock_hz;
	info->clock_max_hz = d->clock_max_hz;
}

void look_device(struct info *info)
{
	struct drm_rkmm_device_info d;
	struct rkmm_device *dev;
	char path[PATH];
	int ret;

	/* a copy of another machine's files has no driver behind its nodes */
	if (!info->node[0] || info->root[0])
		return;
	snprintf(path, sizeof(path), "/%.60s", info->node);
	ret = rkmm_open(path, &dev);
	if (!ret) {
		ret = rkmm_device_info(dev, &d);
		rkmm_close(dev);
	}
	if (!ret)
		look_opened(info, &d);
	else if (ret == -EPROTO)
		problem(info, UNUSABLE, "interface",
			"dkms autoinstall && modprobe -r rkmm && modprobe rkmm", "%s",
			rkmm_last_error());
	else
		problem(info, UNUSABLE, "open", "dmesg | grep rkmm", "%s", rkmm_last_error());
}

/* What was asked for, where the node could not be asked */
static void look_parameters(struct info *info)
{
	static const struct {
		const char *key, *name, *usual;
	} p[] = {
		{ "gate_derived", "derived", "auto" },
		{ "gate_unvalidated", "allow_unvalidated", "N" },
		{ "gate_light", "light", "-1" },
		{ "gate_feature", "feature", "auto" },
		{ "parameter_isolation", "isolation", "auto" },
		{ "parameter_form", "form", "auto" },
		{ "parameter_landing", "landing", NULL },
		{ "parameter_transitions", "transitions", NULL },
		{ "parameter_warmup", "warmup", NULL },
		{ "parameter_die", "die", NULL },
	};
	char text[TEXT], open[TEXT] = "";
	unsigned int i;

	for (i = 0; i < sizeof(p) / sizeof(p[0]); i++) {
		if (!read_line(info, text, "sys/module/rkmm/parameters/%s", p[i].name))
			continue;
		fact(info, p[i].key, NULL, "%s", text);
		if (p[i].usual && strcmp(text, p[i].usual))
			snprintf(open + strlen(open), sizeof(open) - strlen(open), "%s%s=%.30s",
				 open[0] ? " " : "", p[i].name, text);
	}
	fact(info, "gates", "gates", "%s", open[0] ? open : "as shipped");
}

/*
 * Verdicts on program geometries: a header with their number, which root may read. Where it
 * cannot be read the file that is given back at each start says whether there are any.
 */
static void look_envelope(struct info *info)
{
	bool saved = there_is(info, "var/lib/rkmm/envelope");
	unsigned char header[ENVELOPE_HEADER];
	uint32_t cells = 0;
	bool known;

	if (!there_is(info, "%s/rkmm/envelope", info->npu)) {
		fact(info, "envelope", NULL, "%s", "");
		return;
	}
	known = read_bytes(info, header, sizeof(header), "%s/rkmm/envelope", info->npu);
	if (known) {
		memcpy(&cells, header + ENVELOPE_CELLS, sizeof(cells));
		cells = le32toh(cells);
		fact(info, "envelope", "envelope", "%u geometries checked on this die", cells);
	} else {
		fact(info, "envelope", "envelope", "%s", saved ? "saved for each start" :
		     "none saved");
	}
	fact(info, "envelope_saved", NULL, "%s", saved ? "yes" : "no");
	if (info->soft || cells || (saved && !known))
		return;
	if (saved)
		problem(info, NOTE, "envelope-unused", "sudo systemctl start rkmm-envelope",
			"the saved verdicts on this die were not given to the driver");
	else
		problem(info, NOTE, "no-envelope", "sudo rkmm-calibrate",
			"this die was not calibrated: the published envelope is used");
}

void look_state(struct info *info)
{
	uint64_t resets, lost;
	char text[TEXT];

	if (!info->bound)
		return;
	look_parameters(info);
	look_envelope(info);
	if (read_number(info, &resets, "%s/rkmm/resets", info->npu)) {
		read_number(info, &lost, "%s/rkmm/lost_irqs", info->npu);
		fact_number(info, "resets", "resets", resets, "%llu, lost interrupts %llu",
			    (unsigned long long)resets, (unsigned long long)lost);
		fact_number(info, "lost_irqs", NULL, lost, " ");
		if (resets)
			problem(info, NOTE, "hangs", "dmesg | grep 'rkmm.*hang:'",
				"jobs hung since the driver was bound, and cost %llu resets",
				(unsigned long long)resets);
	}
	if (!read_line(info, text, "%s/rkmm/states", info->npu))
		return;
	fact(info, "states", "states", "%s", text);
	if (strstr(text, "stuck") || strstr(text, "off"))
		problem(info, SLOWER, "core-lost", "modprobe -r rkmm && modprobe rkmm",
			"a core is out of service: %s", text);
}
