// SPDX-License-Identifier: MIT
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

#include "rkmm_drm.h"
#include "tools/common/common.h"
#include "top.h"

#define PATH	512

static bool read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t n;

	if (fd < 0)
		return false;
	while (have + 1 < size && (n = read(fd, text + have, size - 1 - have)) > 0)
		have += (size_t)n;
	close(fd);
	text[have] = '\0';
	return have;
}

/* --- clients ------------------------------------------------------------------------------ */

/* What stands behind "KEY:" at the start of a line; NULL for no such line */
static const char *value_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (!strncmp(text, key, n) && text[n] == ':')
			return text + n + 1 + strspn(text + n + 1, " \t");
	}
	return NULL;
}

static uint64_t number_of(const char *text, const char *key)
{
	const char *value = value_of(text, key);

	return value && isdigit(*value) ? strtoull(value, NULL, 10) : 0;
}

static void word_of(const char *text, const char *key, char *word, size_t size)
{
	const char *value = value_of(text, key);
	size_t n = value ? strcspn(value, " \t\n") : 0;

	if (n >= size)
		n = size - 1;
	if (n)
		memcpy(word, value, n);
	word[n] = '\0';
}

bool fdinfo_parse(const char *text, struct client *client)
{
	char driver[16];

	word_of(text, "drm-driver", driver, sizeof(driver));
	if (strcmp(driver, DRM_RKMM_NAME) || !value_of(text, "drm-client-id"))
		return false;
	*client = (struct client){
		.id = number_of(text, "drm-client-id"),
		.npu_ns = number_of(text, "drm-engine-npu"),
		.capacity = number_of(text, "drm-engine-capacity-npu"),
		.jobs = number_of(text, "rkmm-jobs"),
		.queued = number_of(text, "rkmm-queued"),
		.total_kib = number_of(text, "drm-total-memory"),
		.resident_kib = number_of(text, "drm-resident-memory"),
		.program_kib = number_of(text, "rkmm-program-memory") +
			       number_of(text, "rkmm-temporary-memory"),
	};
	word_of(text, "rkmm-priority", client->priority, sizeof(client->priority));
	return true;
}

static void add_client(struct sample *sample, const struct client *client)
{
	size_t i;

	/* a file that several processes have, or one under several numbers */
	for (i = 0; i < sample->nclients; i++)
		if (sample->clients[i].id == client->id)
			return;
	if (!(sample->nclients & (sample->nclients - 1))) {
		sample->clients = realloc(sample->clients, (sample->nclients ? 2 *
					  sample->nclients : 1) * sizeof(*sample->clients));
		if (!sample->clients)
			die(2, "out of memory");
	}
	sample->clients[sample->nclients++] = *client;
}

static void read_process(const char *root, const char *pid, struct sample *sample)
{
	char path[PATH], text[4096], target[32];
	struct client client;
	struct dirent *e;
	ssize_t n;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/proc/%.20s/fd", root, pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/proc/%.20s/fd/%.20s", root, pid, e->d_name);
		n = readlink(path, target, sizeof(target));
		if (n < 9 || memcmp(target, "/dev/dri/", 9))
			continue;
		snprintf(path, sizeof(path), "%s/proc/%.20s/fdinfo/%.20s", root, pid, e->d_name);
		if (!read_text(path, text, sizeof(text)) || !fdinfo_parse(text, &client))
			continue;
		client.pid = (int)strtol(pid, NULL, 10);
		snprintf(path, sizeof(path), "%s/proc/%.20s/comm", root, pid);
		if (read_text(path, client.command, sizeof(client.command)))
			client.command[strcspn(client.command, "\n")] = '\0';
		add_client(sample, &client);
	}
	if (dir)
		closedir(dir);
}

static int by_id(const void *x, const void *y)
{
	const struct client *a = x, *b = y;

	return (a->id > b->id) - (a->id < b->id);
}

static void read_clients(const char *root, struct sample *sample)
{
	char path[PATH];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/proc", root);
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		if (isdigit(e->d_name[0]))
			read_process(root, e->d_name, sample);
	if (dir)
		closedir(dir);
	if (sample->nclients)
		qsort(sample->clients, sample->nclients, sizeof(*sample->clients), by_id);
}

/* --- the device --------------------------------------------------------------------------- */

static uint64_t attribute(const char *dir, const char *name)
{
	char path[PATH], text[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return read_text(path, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

/* A word for each core; the number of them */
static unsigned int words(const char *dir, const char *name, char word[CORES][WORD])
{
	static const char blanks[] = { ' ', '\n', '\0' };
	char path[PATH], text[256], *at, *save = NULL;
	unsigned int n = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!read_text(path, text, sizeof(text)))
		return 0;
	for (at = strtok_r(text, blanks, &save); at && n < CORES;
	     at = strtok_r(NULL, blanks, &save))
		snprintf(word[n++], WORD, "%s", at);
	return n;
}

static unsigned int read_busy(const char *dir, uint64_t busy_ns[CORES])
{
	char path[PATH], text[256], *at = text, *end;
	unsigned int n = 0;

	snprintf(path, sizeof(path), "%s/busy_ns", dir);
	if (!read_text(path, text, sizeof(text)))
		return 0;
	while (n < CORES) {
		busy_ns[n] = strtoull(at, &end, 10);
		if (end == at)
			break;
		at = end;
		n++;
	}
	return n;
}

static void read_device(const char *dir, struct device *d)
{
	d->cores = read_busy(dir, d->busy_ns);
	words(dir, "states", d->state);
	words(dir, "modes", d->mode);
	d->clients = attribute(dir, "clients");
	d->jobs = attribute(dir, "jobs");
	d->queued = attribute(dir, "queued");
	d->clock_hz = attribute(dir, "clock_hz");
	d->resets = attribute(dir, "resets");
	d->lost_irqs = attribute(dir, "lost_irqs");
	d->mode_changes = attribute(dir, "mode_changes");
	d->mode_changes_avoided = attribute(dir, "mode_changes_avoided");
	d->mode_resets = attribute(dir, "mode_resets");
	d->switches = attribute(dir, "switches");
	d->switches_avoided = attribute(dir, "switches_avoided");
	d->stagings = attribute(dir, "stagings");
}

bool sample_take(const char *root, struct sample *sample)
{
	char pattern[PATH];
	struct timespec t;
	glob_t found;

	*sample = (struct sample){};
	snprintf(pattern, sizeof(pattern), "%s/sys/class/drm/renderD*/device/../rkmm", root);
	if (glob(pattern, 0, NULL, &found)) {
		fprintf(stderr, "%s: no device of driver rkmm\n", program_name);
		return false;
	}
	clock_gettime(CLOCK_MONOTONIC, &t);
	sample->ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	read_device(found.gl_pathv[0], &sample->device);
	globfree(&found);
	read_clients(root, sample);
	return true;
}

void sample_free(struct sample *sample)
{
	free(sample->clients);
	sample->clients = NULL;
	sample->nclients = 0;
}

/* Who may not open the node sees no names. The file is closed again: it would be a client. */
void facts_ask(struct facts *facts)
{
	struct drm_rkmm_device_info info = { 0 };
	struct drm_rkmm_query query = {
		.id = DRM_RKMM_QUERY_DEVICE, .size = sizeof(info), .pointer = (uintptr_t)&info,
	};
	char name[16] = "";
	struct drm_version version = { .name_len = sizeof(name) - 1, .name = name };
	glob_t found;
	size_t i;
	int fd;

	*facts = (struct facts){};
	if (glob("/dev/dri/renderD*", 0, NULL, &found))
		return;
	for (i = 0; i < found.gl_pathc && !facts->chip[0]; i++) {
		fd = open(found.gl_pathv[i], O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, DRM_RKMM_NAME) &&
		    !ioctl(fd, DRM_IOCTL_RKMM_QUERY, &query)) {
			snprintf(facts->chip, sizeof(facts->chip), "%.31s", info.chip);
			facts->clock_max_hz = info.clock_max_hz;
			facts->soft = info.flags & DRM_RKMM_DEVICE_SOFT;
		}
		close(fd);
	}
	globfree(&found);
}
