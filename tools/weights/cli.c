// SPDX-License-Identifier: MIT
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/rkmm.h"
#include "lib/rkw.h"
#include "weights.h"

static const char usage_text[] =
"usage: rkmm-weights pack B.npy -o W.rkw [--types T] [--clip]\n"
"       rkmm-weights info [--json] W.rkw\n"
"       rkmm-weights verify W.rkw...\n"
"\n"
"Packed weights in files. No device is needed.\n"
"\n"
"pack     lay the matrix of a numpy file (float32, float16, int8) out as the NPU reads it\n"
"  -o, --output FILE     where to\n"
"  --types T             i8i32, i8i8, f16f32, f16f16 or i4i16; default: i8i32 for int8\n"
"                        files, else f16f32. Floats are quantised per column for int8, int4\n"
"  --clip                scales with the least squared error instead of the largest value\n"
"info     what the header says\n"
"  --json                the same in JSON\n"
"verify   read everything and compare the checksums; status 1 when a file is damaged\n"
"  -h, --help            this text\n"
"  -V, --version         version of librkmm\n";

static const char *const names[] = {
	[DRM_RKMM_I8I32] = "i8i32", [DRM_RKMM_I8I8] = "i8i8", [DRM_RKMM_F16F32] = "f16f32",
	[DRM_RKMM_F16F16] = "f16f16", [DRM_RKMM_I4I16] = "i4i16",
};

#define NUM_TYPES	(sizeof(names) / sizeof(names[0]))

const char *const program_name = "rkmm-weights";

const char *types_name(uint32_t types)
{
	return types < NUM_TYPES ? names[types] : "?";
}

static int open_file(const char *path, struct rkw *w)
{
	char error[RKW_ERROR];
	int fd = rkw_open(path, w, error);

	if (fd < 0)
		fprintf(stderr, "rkmm-weights: %s: %s\n", path, error);
	return fd;
}

static int info(const char *path, bool json)
{
	struct rkw w;
	int fd = open_file(path, &w);

	if (fd < 0)
		return EXIT_FAILED;
	close(fd);
	if (json) {
		printf("{\"types\": \"%s\", \"k\": %u, \"n\": %u, ", types_name(w.types), w.k, w.n);
		printf("\"bits\": %u, \"rows\": %u, \"cols\": %u, \"group\": %u, ", w.b.bits,
		       w.b.rows, w.b.cols, w.b.group);
		printf("\"slices\": %u, \"slice\": %u, \"slice_stride\": %" PRIu64 ", ",
		       w.b.slices, w.b.slice, (uint64_t)w.b.slice_stride);
		printf("\"layout_id\": \"0x%016" PRIx64 "\", \"scales\": %s, ",
		       (uint64_t)w.b.layout_id, w.scaled ? "true" : "false");
		printf("\"data_offset\": %" PRIu64 ", \"data_bytes\": %" PRIu64 ", ",
		       w.data_offset, (uint64_t)w.b.size);
		printf("\"data_crc32\": \"0x%08x\"}\n", w.data_crc);
		return EXIT_OK;
	}
	printf("types   %s, %u bits a value%s\n", types_name(w.types), w.b.bits,
	       w.scaled ? ", a scale for each column" : "");
	printf("shape   K=%u N=%u, padded to %u x %u\n", w.k, w.n, w.b.rows, w.b.cols);
	printf("layout  id 0x%016" PRIx64 ", %u slice%s of K=%u, groups of %u columns\n",
	       (uint64_t)w.b.layout_id, w.b.slices, w.b.slices == 1 ? "" : "s", w.b.slice,
	       w.b.group);
	printf("data    %" PRIu64 " bytes at %" PRIu64 ", CRC-32 %08x\n", (uint64_t)w.b.size,
	       w.data_offset, w.data_crc);
	return EXIT_OK;
}

static int verify(const char *path)
{
	char error[RKW_ERROR];
	struct rkw w;
	int fd = open_file(path, &w), ret;

	if (fd < 0)
		return EXIT_FAILED;
	ret = rkw_read(fd, &w, NULL, NULL, error);
	close(fd);
	if (ret) {
		fprintf(stderr, "rkmm-weights: %s: %s\n", path, error);
		return EXIT_FAILED;
	}
	printf("%s: OK\n", path);
	return EXIT_OK;
}

enum {
	OPT_TYPES = 256,
	OPT_CLIP,
	OPT_JSON,
};

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "types", required_argument, NULL, OPT_TYPES },
	{ "clip", no_argument, NULL, OPT_CLIP },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 }
};

static int parse_types(const char *text)
{
	size_t i;

	for (i = 0; i < NUM_TYPES; i++)
		if (!strcmp(names[i], text))
			return (int)i;
	die(EXIT_USAGE, "--types %s: not known, see --help", text);
}

static int dispatch(const char *name, const struct pack_options *opt, bool json, int count,
		    char **files)
{
	struct pack_options pack = *opt;
	int i, ret = EXIT_OK;

	if (!strcmp(name, "pack")) {
		if (count != 1 || !opt->out || json)
			die(EXIT_USAGE, "pack needs one file and -o FILE; see --help");
		pack.in = files[0];
		weights_pack(&pack);
		return EXIT_OK;
	}
	if (opt->out || opt->types >= 0 || opt->clip)
		die(EXIT_USAGE, "an option of pack goes with pack only");
	if (!strcmp(name, "info")) {
		if (count != 1)
			die(EXIT_USAGE, "info needs one file");
		return info(files[0], json);
	}
	if (!strcmp(name, "verify")) {
		if (!count || json)
			die(EXIT_USAGE, "verify needs files");
		for (i = 0; i < count; i++)
			if (verify(files[i]))
				ret = EXIT_FAILED;
		return ret;
	}
	die(EXIT_USAGE, "%s: no such command, see --help", name);
}

int weights_main(int argc, char **argv)
{
	struct pack_options opt = { .types = -1 };
	bool json = false;
	int c, ret;

	while ((c = getopt_long(argc, argv, "o:hV", long_options, NULL)) != -1) {
		switch (c) {
		case 'o':
			opt.out = optarg;
			break;
		case OPT_TYPES:
			opt.types = parse_types(optarg);
			break;
		case OPT_CLIP:
			opt.clip = true;
			break;
		case OPT_JSON:
			json = true;
			break;
		case 'h':
			fputs(usage_text, stdout);
			return EXIT_OK;
		case 'V':
			printf("rkmm-weights %s\n", rkmm_version_string());
			return EXIT_OK;
		default:
			/* getopt said what is wrong. */
			return EXIT_USAGE;
		}
	}
	if (optind >= argc)
		die(EXIT_USAGE, "pack, info or verify is needed; see --help");
	ret = dispatch(argv[optind], &opt, json, argc - optind - 1, argv + optind + 1);
	if (fflush(stdout) || ferror(stdout))
		die(EXIT_FAILED, "standard output: %s", strerror(errno));
	return ret;
}
