// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/internal.h"

static _Thread_local char last_error[320];

int rkmm_fail(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(last_error, sizeof(last_error), fmt, ap);
	va_end(ap);
	return err;
}

int rkmm_fail_errno(int err, const char *fmt, ...)
{
	const char *text;
	char buf[64];
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	vsnprintf(last_error, sizeof(last_error), fmt, ap);
	va_end(ap);

	/* Errors whose usual text would mislead here. */
	switch (-err) {
	case ENOSPC:
		text = "no room in the NPU address window (IOVA); memory is not the problem";
		break;
	case ESTALE:
		text = "the plan is no longer trusted on this chip, make a new one";
		break;
	case EPERM:
		text = "this client is banned after repeated hangs";
		break;
	case EIO:
		text = "the submission hung the NPU";
		break;
	case ECANCELED:
		text = "a dependency failed or the submission was killed";
		break;
	case ENODEV:
		text = "the device is gone";
		break;
	case ETIME:
		text = "time is up";
		break;
	default:
		if (strerror_r(-err, buf, sizeof(buf)))
			snprintf(buf, sizeof(buf), "error %d", -err);
		text = buf;
		break;
	}
	len = strlen(last_error);
	snprintf(last_error + len, sizeof(last_error) - len, ": %s", text);
	return err;
}

const char *rkmm_last_error(void)
{
	return last_error;
}

const char *rkmm_reason_string(uint32_t reason)
{
	static const char *const text[] = {
		[DRM_RKMM_REASON_NONE] = "no reason given",
		[DRM_RKMM_REASON_TYPES] = "the chip does not do this type pair",
		[DRM_RKMM_REASON_ZERO] = "a dimension is zero",
		[DRM_RKMM_REASON_K_LIMIT] = "K is too large",
		[DRM_RKMM_REASON_N_LIMIT] = "N is too large",
		[DRM_RKMM_REASON_M_LIMIT] = "M is too large",
		[DRM_RKMM_REASON_STRIDE] = "a row pitch is too small, misaligned or too large",
		[DRM_RKMM_REASON_BANKS] = "no legal split of the on-chip buffer",
		[DRM_RKMM_REASON_LAYOUT] = "the packed layout of B does not fit the shape",
		[DRM_RKMM_REASON_SIZE] = "an operand exceeds the address window of the NPU",
		[DRM_RKMM_REASON_FORM] = "the program form is not available",
		[DRM_RKMM_REASON_QUANT] = "requantisation parameters are out of range",
		[DRM_RKMM_REASON_OPERATION] = "the chip does not do this operation with this type",
		[DRM_RKMM_REASON_PARAM] =
			"a parameter is out of range, or the operation does not have it",
		[DRM_RKMM_REASON_READ_BACK] =
			"int32 tensors cannot be read back: requantise in the matmul",
		[DRM_RKMM_REASON_STAGE] =
			"a stage of the epilogue cannot follow what is before it",
		[DRM_RKMM_REASON_SLICES] = "an epilogue needs all of K in one program",
	};

	if (reason >= sizeof(text) / sizeof(text[0]) || !text[reason])
		return "unknown reason";
	return text[reason];
}

const char *rkmm_version_string(void)
{
	return "0.1.0";
}

int64_t rkmm_deadline(int64_t timeout_ns)
{
	struct timespec ts;
	int64_t now;

	if (timeout_ns < 0)
		return INT64_MAX;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	return timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns;
}
