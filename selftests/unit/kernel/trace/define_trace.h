/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints are the test's. */
