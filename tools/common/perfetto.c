// SPDX-License-Identifier: MIT
#include "tools/common/perfetto.h"

#include <errno.h>
#include <string.h>

#include "tools/common/common.h"

/* Bytes of the character that begins here; 0 when it is none */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ?
		   3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0, i;

	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* longer than need be, halves of pairs, behind the last one */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

void json_text(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n;

	fputc('"', f);
	for (; *s; s += n) {
		n = utf8_length(s);
		if (!n) {
			fputc('?', f);
			n = 1;
		} else if (*s < 0x20 || *s == 0x7f) {
			fprintf(f, "\\u%04x", *s);
		} else {
			if (*s == '"' || *s == '\\')
				fputc('\\', f);
			fwrite(s, 1, n, f);
		}
	}
	fputc('"', f);
}

bool perfetto_begin(struct perfetto *out, const char *path)
{
	*out = (struct perfetto){ .f = fopen(path, "w"), .path = path, .sep = "" };
	if (!out->f) {
		fprintf(stderr, "%s: %s: %s\n", program_name, path, strerror(errno));
		return false;
	}
	fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n", out->f);
	return true;
}

bool perfetto_end(struct perfetto *out)
{
	bool ok;

	fputs("\n]}\n", out->f);
	ok = !ferror(out->f);
	if (fclose(out->f))
		ok = false;
	if (!ok)
		fprintf(stderr, "%s: %s: %s\n", program_name, out->path, strerror(errno));
	return ok;
}

static void begin(struct perfetto *out, const char *phase, unsigned int pid)
{
	fprintf(out->f, "%s{\"ph\": \"%s\", \"pid\": %u", out->sep, phase, pid);
	out->sep = ",\n";
}

static void meta(struct perfetto *out, const char *what, unsigned int pid, unsigned int tid,
		 const char *name)
{
	begin(out, "M", pid);
	fprintf(out->f, ", \"tid\": %u, \"name\": \"%s\", \"args\": {\"name\": ", tid, what);
	json_text(out->f, name);
	fputs("}}", out->f);
}

void perfetto_process(struct perfetto *out, unsigned int pid, const char *name)
{
	meta(out, "process_name", pid, 1, name);
}

void perfetto_track(struct perfetto *out, unsigned int pid, unsigned int tid, const char *name)
{
	meta(out, "thread_name", pid, tid, name);
}

void perfetto_bar(struct perfetto *out, unsigned int pid, unsigned int tid, uint64_t from_ns,
		  uint64_t to_ns, const char *category, const char *name)
{
	begin(out, "X", pid);
	fprintf(out->f, ", \"tid\": %u, \"ts\": %.3f, \"dur\": %.3f, \"cat\": ", tid,
		(double)from_ns / 1e3, (double)(to_ns - from_ns) / 1e3);
	json_text(out->f, category);
	fputs(", \"name\": ", out->f);
	json_text(out->f, name);
	out->arg = ", \"args\": {";
}

static void key_of(struct perfetto *out, const char *key)
{
	fprintf(out->f, "%s\"%s\": ", out->arg, key);
	out->arg = ", ";
}

void perfetto_arg(struct perfetto *out, const char *key, int64_t value)
{
	key_of(out, key);
	fprintf(out->f, "%lld", (long long)value);
}

void perfetto_arg_text(struct perfetto *out, const char *key, const char *value)
{
	key_of(out, key);
	json_text(out->f, value);
}

void perfetto_bar_end(struct perfetto *out)
{
	/* ", " once there was one */
	fputs(out->arg[2] ? "}" : "}}", out->f);
}

void perfetto_counter(struct perfetto *out, unsigned int pid, uint64_t ns, const char *name,
		      int64_t value)
{
	begin(out, "C", pid);
	fprintf(out->f, ", \"tid\": 0, \"ts\": %.3f, \"name\": ", (double)ns / 1e3);
	json_text(out->f, name);
	fprintf(out->f, ", \"args\": {\"value\": %lld}}", (long long)value);
}
