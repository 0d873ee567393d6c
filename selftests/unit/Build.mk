# SPDX-License-Identifier: MIT

host-tests += test_lib_pack
test_lib_pack-srcs := selftests/unit/test_lib_pack.c
test_lib_pack-libs := rkmm
