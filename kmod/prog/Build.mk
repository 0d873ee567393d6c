# SPDX-License-Identifier: GPL-2.0-only

host-libs += prog
prog-srcs := $(sort $(wildcard kmod/prog/*.c))
