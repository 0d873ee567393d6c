// SPDX-License-Identifier: MIT
/* Which NPU there is, who has it, and whether module, kernel and library belong together. */
#define _GNU_SOURCE
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"
#include "lib/rkmm.h"

/* Which device is the NPU; of three of a mainline tree the first */
static void find_npu(struct info *info, char compatible[TEXT])
{
	char path[PATH];
	unsigned int i;

	for (i = 0; match(info, "sys/bus/platform/devices/*/of_node/compatible", i, path); i++) {
		if (!read_line(info, compatible, "%s", path) ||
		    strncmp(compatible, "rockchip,rk35", 13) ||
		    (!strstr(compatible, "-rknpu") && !strstr(compatible, "-rknn-core")))
			continue;
		path[strlen(path) - strlen("/of_node/compatible")] = '\0';
		memcpy(info->npu, path, sizeof(info->npu));
		break;
	}
	if (!info->npu[0]) {
		compatible[0] = '\0';
		info->soft = match(info, "sys/bus/platform/devices/rkmm-npu", 0, info->npu);
	}
	if (info->npu[0])
		snprintf(info->name, sizeof(info->name), "%.*s", TEXT - 1,
			 strrchr(info->npu, '/') + 1);
}

/* rkmm.ko for the running kernel, wherever it is */
static bool installed(const struct info *info, const char *release)
{
	static const char *const places[] = {
		"updates/dkms", "updates", "extra", "kernel/drivers/accel/rkmm",
	};
	char pattern[PATH], path[PATH];
	unsigned int i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(pattern, sizeof(pattern), "lib/modules/%.100s/%s/rkmm.ko*", release,
			 places[i]);
		if (match(info, pattern, 0, path))
			return true;
	}
	return false;
}

/* A signature is asked for, and nobody has enrolled ours yet */
static bool must_be_signed(const struct info *info)
{
	char text[TEXT];

	return (read_line(info, text, "sys/module/module/parameters/sig_enforce") &&
		text[0] == 'Y') ||
	       (read_line(info, text, "sys/kernel/security/lockdown") &&
		!strstr(text, "[none]"));
}

static void missing_npu(struct info *info)
{
	char text[TEXT], path[PATH];
	unsigned int i;

	for (i = 0; match(info, "proc/device-tree/npu@*/status", i, path); i++)
		if (read_line(info, text, "%s", path) && !strcmp(text, "disabled")) {
			problem(info, UNUSABLE, "disabled",
				"fdtput -t s THE-BOARD.dtb /npu@fdab0000 status okay",
				"the NPU's node is disabled in the device tree");
			return;
		}
	if (there_is(info, "sys/module/rkmm_soft"))
		problem(info, UNUSABLE, "no-npu", "dmesg | grep rkmm_soft",
			"the software NPU is loaded and made no device");
	else if (there_is(info, "sys/bus/platform/devices"))
		problem(info, UNUSABLE, "no-npu", "modprobe rkmm_soft && modprobe rkmm",
			"this machine has no NPU that its device tree tells of; there is the software NPU");
	else
		problem(info, UNUSABLE, "no-sysfs", "mount -t sysfs none /sys",
			"there is no /sys to look at");
}

/* Nobody has it: the next step towards rkmm */
static void unbound(struct info *info, const char *compatible, const char *release)
{
	char fix[TEXT];

	if (strstr(compatible, "rknn-core")) {
		problem(info, UNUSABLE, "mainline-tree", "rkmm-switch status",
			"a mainline device tree, which rkmm does not serve yet: start a vendor kernel");
	} else if (!info->soft && !there_is(info, "%s/iommu_group", info->npu)) {
		problem(info, UNUSABLE, "no-iommu",
			"fdtput -t s THE-BOARD.dtb /iommu@fdab9000 status okay",
			"the NPU has no IOMMU: its node rknpu_mmu is disabled in the device tree");
	} else if (there_is(info, "sys/module/rkmm")) {
		problem(info, UNUSABLE, "not-bound", "dmesg | grep rkmm",
			"the module rkmm is loaded and did not take the NPU; the kernel's log says why");
	} else if (!installed(info, release)) {
		problem(info, UNUSABLE, "not-installed",
			formatted(fix, "dkms autoinstall -k %.100s", release),
			"there is no module rkmm for kernel %s", release);
	} else if (must_be_signed(info) && there_is(info, "var/lib/dkms/mok.pub")) {
		problem(info, UNUSABLE, "unsigned", "mokutil --import /var/lib/dkms/mok.pub",
			"the module rkmm is not loaded, and this kernel takes signed modules alone");
	} else {
		problem(info, UNUSABLE, "not-loaded", "modprobe rkmm",
			"the module rkmm is not loaded");
	}
}

static void look_owner(struct info *info, const char *compatible, const char *release)
{
	char text[TEXT];

	if (!info->npu[0])
		missing_npu(info);
	else if (!strcmp(info->driver, "RKNPU"))
		problem(info, UNUSABLE, "vendor", "rkmm-switch rkmm && reboot",
			"the vendor's driver has the NPU");
	else if (!strcmp(info->driver, "rocket"))
		problem(info, UNUSABLE, "rocket", "rkmm-switch status",
			"the driver rocket has the NPU; rkmm serves the vendor's device tree");
	else if (info->driver[0] && !info->bound)
		problem(info, UNUSABLE, "other-driver",
			formatted(text, "echo %.60s > /sys/bus/platform/drivers/%.60s/unbind",
				  info->name, info->driver),
			"the driver %s has the NPU", info->driver);
	else if (!info->driver[0])
		unbound(info, compatible, release);
}

/* Driver and library must have the same first number */
static void look_versions(struct info *info, const char *release)
{
	const char *library = rkmm_version_string();
	char module[TEXT], other[TEXT], path[PATH];
	unsigned int i;
	bool same;

	fact(info, "kernel", "kernel", "%s", release);
	fact(info, "library_version", "library", "%s", library);
	read_line(info, module, "sys/module/rkmm/version");
	fact(info, "module_version", module[0] ? "module" : NULL, "%s", module);
	if (module[0] && strcmp(module, library)) {
		same = strtol(module, NULL, 10) == strtol(library, NULL, 10);
		problem(info, same ? NOTE : UNUSABLE, "versions",
			strverscmp(module, library) < 0 ?
			"dkms autoinstall && modprobe -r rkmm && modprobe rkmm" :
			"apt-get install --only-upgrade librkmm1",
			"the loaded module is %s, the library %s", module, library);
	}
	/* sources that are newer than what runs */
	for (i = 0; module[0] && match(info, "usr/src/rkmm-*", i, path); i++) {
		snprintf(other, sizeof(other), "%.*s", TEXT - 1, strrchr(path, '-') + 1);
		if (strverscmp(other, module) > 0 && !strcmp(module, library))
			problem(info, NOTE, "newer-sources",
				"dkms autoinstall && modprobe -r rkmm && modprobe rkmm",
				"the sources of module %s are installed, and %s runs", other,
				module);
	}
}

void look_driver(struct info *info)
{
	char compatible[TEXT], release[TEXT], model[TEXT];

	find_npu(info, compatible);
	if (info->npu[0])
		read_link(info, info->driver, "%s/driver", info->npu);
	info->bound = !strcmp(info->driver, "rkmm");
	read_line(info, release, "proc/sys/kernel/osrelease");
	if (read_line(info, model, "proc/device-tree/model"))
		fact(info, "board", "board", "%s", model);
	fact(info, "npu", "NPU", "%s%s%s%s%s", info->npu[0] ? info->name : "none",
	     compatible[0] ? " (" : "", compatible, compatible[0] ? ")" : "",
	     info->soft ? " (software)" : "");
	fact(info, "driver", "driver", "%s", info->driver[0] ? info->driver : "none");
	look_owner(info, compatible, release);
	look_versions(info, release);
}
