// SPDX-License-Identifier: MIT
/* The render node: whether it is there, and whether this user may use it. */
#define _GNU_SOURCE
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "info.h"

#define GIVE	"sudo sh -c 'cd /dev/dri; chgrp render %.40s; chmod 660 %.40s'"

static bool in_container(const struct info *info)
{
	return there_is(info, ".dockerenv") || there_is(info, "run/.containerenv") ||
	       there_is(info, "run/systemd/container");
}

static const char *group_name(gid_t gid, char text[TEXT])
{
	const struct group *g = getgrgid(gid);

	if (g)
		return formatted(text, "%.60s", g->gr_name);
	return formatted(text, "%u", (unsigned int)gid);
}

static const char *user_name(char text[TEXT])
{
	const struct passwd *p = getpwuid(geteuid());

	if (p)
		return formatted(text, "%.60s", p->pw_name);
	return formatted(text, "%u", (unsigned int)geteuid());
}

static void missing_node(struct info *info, const char *name)
{
	char fix[TEXT];

	if (info->container)
		problem(info, UNUSABLE, "no-node-container",
			formatted(fix, "docker run --device /dev/dri/%.40s ...", name),
			"the driver made the node %s, and this container was not given it", name);
	else
		problem(info, UNUSABLE, "no-node",
			"udevadm trigger --action=add --subsystem-match=drm",
			"the driver made the node %s, and /dev/dri has none of that name", name);
}

static void no_access(struct info *info, const struct stat *st, const char *name)
{
	bool render = (st->st_mode & 060) == 060 && st->st_gid;
	char fix[TEXT], group[TEXT], user[TEXT];

	group_name(st->st_gid, group);
	user_name(user);
	if (render && info->container)
		problem(info, UNUSABLE, "no-permission-container",
			formatted(fix, "docker run --group-add %u --device /dev/dri/%.40s ...",
				  (unsigned int)st->st_gid, name),
			"%s is for the group %s of the host, which user %s of this container lacks",
			name, group, user);
	else if (render)
		problem(info, UNUSABLE, "no-permission",
			formatted(fix, "sudo usermod -aG %.60s %.60s", group, user),
			"%s is for the group %s, and user %s is not in it; log in again afterwards",
			name, group, user);
	else
		problem(info, UNUSABLE, "no-udev-rule",
			formatted(fix, GIVE, name, name),
			"%s is for group %s with mode %o: the udev rule of rkmm is missing", name,
			group, (unsigned int)(st->st_mode & 0777));
}

void look_node(struct info *info)
{
	char path[PATH], group[TEXT], full[PATH];
	const char *name;
	struct stat st;

	info->container = in_container(info);
	fact(info, "container", info->container ? "container" : NULL, "%s",
	     info->container ? "yes" : "no");
	/* below the NPU is the device that DRM has for it, and below that the node */
	if (!info->bound || !match(info, "sys/class/drm/renderD*/device/../rkmm", 0, path)) {
		fact(info, "node", NULL, "%s", "");
		return;
	}
	path[strlen(path) - strlen("/device/../rkmm")] = '\0';
	name = strrchr(path, '/') + 1;
	snprintf(info->node, sizeof(info->node), "dev/dri/%.40s", name);
	snprintf(full, sizeof(full), "%.200s/%.60s", info->root, info->node);
	if (stat(full, &st)) {
		fact(info, "node", "node", "/dev/dri/%.40s (missing)", name);
		missing_node(info, name);
		info->node[0] = '\0';
		return;
	}
	fact(info, "node", "node", "/%.40s", info->node);
	fact(info, "node_permissions", "", "group %.60s, mode %04o", group_name(st.st_gid, group),
	     (unsigned int)(st.st_mode & 07777));
	if (eaccess(full, R_OK | W_OK)) {
		no_access(info, &st, name);
		info->node[0] = '\0';
	}
}
