# SPDX-License-Identifier: MIT
#
# rkmm: driver, software NPU, library, tools and tests. `make help` lists what can be made.
#
# Userspace code is listed by the Build.mk fragment of its folder; the rules are here. A fragment
# knows these variables (N is a name, every list is added to with +=):
#   host-libs    static libraries: N-srcs (.c or .cc)                        -> lib/libN.a
#   shared-libs  libraries: N-srcs, N-version (of the ABI, 1.2.3), N-map (version script), N-shlibs,
#                N-headers (installed), N-pc (libN.pc.in)                    -> lib/libN.so.1, lib/libN.a
#   host-bins    programs: N-srcs, N-libs (static, in link order),
#                N-shlibs (shared), N-ldlibs (-lm)                           -> bin/N
#   host-tests   cmocka programs, same variables; build machine only         -> bin/N
#   host-fuzzers libFuzzer programs, same variables; N-runs inputs in a check -> bin/N
#   guest-tests  kselftest programs, same variables; N-vboard: vboard options    -> selftests/N
#   guest-scripts shell tests, by path; NAME.sh-vboard as above                -> selftests/
#   guest-helpers what they read, by path                                      -> selftests/
#   cross-libs, cross-bins  as host-libs, host-bins, but for arm64 only
#   host-only    names that are not built for arm64
#   N-cflags     more compiler flags
# Every name is built per tree: build/host, build/host-san (SAN=1), build/arm64, build/fuzz.

VERSION := 0.1.0

MAKEFLAGS += -rR
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:

top := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
Q := $(if $(filter 1,$(V)),,@)
silent := $(findstring s,$(firstword -$(MAKEFLAGS)))
say = $(if $(filter 1,$(V))$(silent),@:,@printf '  %-7s %s\n' $(1) $(2))

native := $(or $(shell dpkg --print-architecture 2>/dev/null),$(patsubst x86_64,amd64,$(patsubst aarch64,arm64,$(shell uname -m))))

# karch: Debian's name of the target; KARCH: the kernel's
karch := $(or $(patsubst x86,amd64,$(patsubst x86_64,amd64,$(patsubst aarch64,arm64,$(ARCH)))),$(native))
KARCH := $(patsubst amd64,x86_64,$(karch))
cross-prefix := $(if $(filter arm64,$(native)),,aarch64-linux-gnu-)
ifeq ($(karch),arm64)
CROSS_COMPILE ?= $(cross-prefix)
endif

# --- makes that write to one folder of build/ wait for each other (vboard and check run make too) --
san := $(if $(filter 1,$(SAN)),-san)
utree := $(if $(filter arm64,$(karch)),arm64,host)
running := /lib/modules/$(shell uname -r)/build
debian-kdir := $(top)/build/deb/kdir-$(karch)-6.1
ifndef KDIR
KDIR := $(if $(filter $(native),$(karch)),$(if $(wildcard $(running)),$(running),$(debian-kdir)),$(debian-kdir))
endif
override KDIR := $(abspath $(KDIR))

module-lock := module-$(or $(notdir $(MODDIR)),$(if $(findstring kdir-,$(KDIR)),$(notdir $(KDIR)),$(karch)))
locks-all := $(module-lock) $(utree)
locks-module := $(module-lock)
locks-modules := $(module-lock)
locks-host := host$(san)
locks-unit := host$(san)
locks-arm64 := arm64
locks-fuzz := fuzz
locks-selftests := $(utree)
locks-install := $(utree)
locks-selftests-install := $(utree)
locks-vboard-image := arm64 module-kdir-arm64-6.1 vboard
locks-clean := arm64 host module-kdir-arm64-6.1 vboard
goals := $(or $(MAKECMDGOALS),all)
ifndef RKMM_LOCKED
locks := $(sort $(foreach g,$(goals),$(locks-$(g))))
ifneq ($(locks),)
$(shell mkdir -p $(top)/build)
.PHONY: $(goals) locked
$(goals): locked
	@:
# taken in one order, so that no two makes wait for each other; flock -o keeps them from grandchildren
locked:
	+@exec $(foreach l,$(locks),flock -o $(top)/build/.lock-$(l)) $(MAKE) --no-print-directory \
		RKMM_LOCKED=1 $(goals)
wait-for-lock := 1
endif
endif
ifndef wait-for-lock

.PHONY: all
all: module $(if $(filter arm64,$(karch)),arm64,host) selftests

include $(sort $(wildcard lib/Build.mk tools/Build.mk selftests/Build.mk selftests/unit/Build.mk \
	kmod/prog/Build.mk kmod/soft/model/Build.mk))

# --- userspace ---------------------------------------------------------------------------------
CC := gcc
CCACHE ?= $(shell command -v ccache)
WERROR ?= -Werror
CFLAGS ?= -O2 -g

# <drm/drm.h>, "drm.h", <xf86drm.h>, <zlib.h> and <curses.h>, whatever architecture, of the build machine's packages
lib-headers := build/include/curses.h
ktools := build/ktools/.done
u-flags := -std=gnu11 -Wall -Wextra -fPIC -Iuapi -I. -Ilib -isystem build/include -isystem build/include/drm
kselftest-flags := -isystem build/ktools/selftests -isystem build/ktools/selftests/rkmm -D_GNU_SOURCE

cc-host := $(CCACHE) $(CC)
ar-host := ar
cc-host-san := $(cc-host)
ar-host-san := ar
flags-host-san := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
cc-arm64 := $(CCACHE) $(cross-prefix)gcc
ar-arm64 := $(cross-prefix)ar
comma := ,
# another architecture's libraries are unpacked, not installed
cross-libdirs := build/deb/root/usr/lib/aarch64-linux-gnu build/deb/root/lib/aarch64-linux-gnu
ld-arm64 := $(if $(cross-prefix),$(foreach d,$(cross-libdirs),-L$(d) -Wl$(comma)-rpath-link$(comma)$(d)))
cc-fuzz := clang
ar-fuzz := ar
flags-fuzz := -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer

static-libs := $(sort $(host-libs) $(shared-libs))
libs-host := $(static-libs)
libs-host-san := $(static-libs)
libs-fuzz := $(static-libs)
libs-arm64 := $(filter-out $(host-only),$(static-libs)) $(cross-libs)
shlibs-host := $(shared-libs)
shlibs-arm64 := $(filter-out $(host-only),$(shared-libs))
shlibs-host-san := $(shared-libs)
bins-host := $(sort $(host-bins))
bins-host-san := $(bins-host)
bins-arm64 := $(sort $(filter-out $(host-only),$(host-bins)) $(cross-bins))
tests-host := $(sort $(host-tests))
tests-host-san := $(tests-host)
guest-host := $(sort $(guest-tests))
guest-arm64 := $(sort $(guest-tests))
fuzzers-fuzz := $(sort $(host-fuzzers))

# programs find the libraries beside them; empty for those installed where the loader looks
RPATH ?= $$ORIGIN/../lib

soname = lib$(1).so.$(firstword $(subst ., ,$($(1)-version)))
objs = $(patsubst %,build/$(1)/obj/$(2)/%.o,$(basename $($(2)-srcs)))
cxx = $(filter %.cc,$($(1)-srcs))
run-path = $(if $(1),-Wl$(comma)-rpath$(comma)'$(subst $$,$$$$,$(1))')
extra-ld = $(ld-$(1)) $(if $(filter host-san,$(1)),$(flags-host-san)) $(if $(filter fuzz,$(1)),$(flags-fuzz))

# A target's flags are kept in a file, and its objects are made anew when they change.
# $(1) tree, $(2) name, $(3) more flags
define compile-rules
flags-$(1)-$(2) := $(cc-$(1)) $(u-flags) $(CFLAGS) $(WERROR) $(flags-$(1)) $(3) $($(2)-cflags)
ifneq ($$(file <build/$(1)/obj/$(2)/.flags),$$(flags-$(1)-$(2)))
$$(shell mkdir -p build/$(1)/obj/$(2))
$$(file >build/$(1)/obj/$(2)/.flags,$$(flags-$(1)-$(2)))
endif
$(patsubst %.c,build/$(1)/obj/$(2)/%.o,$(filter %.c,$($(2)-srcs))): build/$(1)/obj/$(2)/%.o: %.c build/$(1)/obj/$(2)/.flags | $(lib-headers)
	$$(call say,CC,$(1)/$$*.o)
	@mkdir -p $$(@D)
	$(Q)$$(flags-$(1)-$(2)) -MMD -MP -c -o $$@ $$<
$(patsubst %.cc,build/$(1)/obj/$(2)/%.o,$(call cxx,$(2))): build/$(1)/obj/$(2)/%.o: %.cc build/$(1)/obj/$(2)/.flags | $(lib-headers)
	$$(call say,CXX,$(1)/$$*.o)
	@mkdir -p $$(@D)
	$(Q)$$(patsubst %gcc,%g++,$$(patsubst -std=gnu11,-std=gnu++17,$$(flags-$(1)-$(2)))) -MMD -MP -c -o $$@ $$<
-include $(patsubst %.o,%.d,$(call objs,$(1),$(2)))
endef

# $(1) tree, $(2) name
define static-rules
$(call compile-rules,$(1),$(2))
build/$(1)/lib/lib$(2).a: $(call objs,$(1),$(2))
	$$(call say,AR,$$@)
	@mkdir -p $$(@D)
	$(Q)rm -f $$@ && $(ar-$(1)) rcs $$@ $$(filter %.o,$$^)
endef

define shared-rules
build/$(1)/lib/$(call soname,$(2)): $(call objs,$(1),$(2)) $($(2)-map) \
		$(foreach l,$($(2)-shlibs),build/$(1)/lib/$(call soname,$(l)))
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$(Q)$(cc-$(1)) -shared $(call extra-ld,$(1)) -Wl,-soname,$(call soname,$(2)) \
		$(if $(filter host-san,$(1)),,-Wl$(comma)-z$(comma)defs) $(if $($(2)-map),-Wl$(comma)--version-script=$($(2)-map)) \
		-o $$@ $$(filter %.o,$$^) $(foreach l,$($(2)-shlibs),build/$(1)/lib/$(call soname,$(l))) \
		$(if $($(2)-shlibs),$(call run-path,$(if $(RPATH),$$ORIGIN))) $($(2)-ldlibs)
	@ln -sf $(call soname,$(2)) build/$(1)/lib/lib$(2).so
endef

# $(1) tree, $(2) name, $(3) output folder, $(4) more compiler flags, $(5) more linker arguments
define bin-rules
$(call compile-rules,$(1),$(2),$(4))
build/$(1)/$(3)/$(2): $(call objs,$(1),$(2)) $(patsubst %,build/$(1)/lib/lib%.a,$($(2)-libs)) \
		$(foreach l,$($(2)-shlibs),build/$(1)/lib/$(call soname,$(l)))
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$(Q)$(if $(call cxx,$(2)),$(patsubst %gcc,%g++,$(cc-$(1))),$(cc-$(1))) $(call extra-ld,$(1)) -o $$@ $$(filter %.o %.a,$$^) \
		$(foreach l,$($(2)-shlibs),build/$(1)/lib/$(call soname,$(l))) $(if $($(2)-shlibs),$(call run-path,$(RPATH))) $($(2)-ldlibs) $(5)
endef

trees := host host-san arm64 fuzz
$(foreach t,$(trees),\
	$(foreach l,$(libs-$(t)),$(eval $(call static-rules,$(t),$(l)))) \
	$(foreach l,$(shlibs-$(t)),$(eval $(call shared-rules,$(t),$(l)))) \
	$(foreach b,$(bins-$(t)),$(eval $(call bin-rules,$(t),$(b),bin))) \
	$(foreach b,$(tests-$(t)),$(eval $(call bin-rules,$(t),$(b),bin,,-lcmocka))) \
	$(foreach b,$(fuzzers-$(t)),$(eval $(call bin-rules,$(t),$(b),bin,,-fsanitize=fuzzer))) \
	$(foreach b,$(guest-$(t)),$(eval $(call bin-rules,$(t),$(b),selftests,$(kselftest-flags)))) \
	$(foreach b,$(guest-$(t)),$(eval $(call objs,$(t),$(b)): | $(ktools))))

tree-files = $(patsubst %,build/$(1)/lib/lib%.a,$(libs-$(1))) \
	$(foreach l,$(shlibs-$(1)),build/$(1)/lib/$(call soname,$(l))) \
	$(patsubst %,build/$(1)/bin/%,$(bins-$(1)) $(tests-$(1)) $(fuzzers-$(1)))
guest-files = $(patsubst %,build/$(1)/selftests/%,$(guest-$(1)) $(notdir $(guest-scripts) $(guest-helpers)))

define script-rule
build/$(1)/selftests/$(notdir $(2)): $(2)
	@mkdir -p $$(@D)
	$(Q)install -m 755 $$< $$@
endef
$(foreach t,host arm64,$(foreach s,$(guest-scripts) $(guest-helpers),$(eval $(call script-rule,$(t),$(s)))))

$(lib-headers): | need-headers
	@mkdir -p $(@D)/drm
	$(Q)cp /usr/include/libdrm/drm.h /usr/include/libdrm/drm_mode.h /usr/include/xf86drm.h $(@D)/drm/
	$(Q)cp /usr/include/{zconf,zlib,ncurses_dll,unctrl}.h $(@D)/
	$(Q)cp /usr/include/curses.h $@.$$$$; mv $@.$$$$ $@

$(ktools):
	$(Q)tools/build/deb.sh ktools

.PHONY: host arm64 fuzz unit selftests need-headers need-host need-cross need-unit
host: need-host $(call tree-files,host$(san))
arm64: need-cross $(call tree-files,arm64)
fuzz: $(call tree-files,fuzz)
selftests: $(if $(filter arm64,$(karch)),need-cross $(call guest-files,arm64),need-host $(call guest-files,host))

# packages of the build machine: looked for once per make, installed when root
need-headers:
	$(Q)tools/build/deb.sh need libdrm-dev zlib1g-dev libncurses-dev
need-host:
	$(Q)tools/build/deb.sh need gcc $(if $(host-tests),libcmocka-dev) $(if $(filter %.cc,$(foreach t,$(host-tests) $(host-bins),$($(t)-srcs))),g++) libdrm-dev zlib1g-dev libjansson-dev libncurses-dev
need-cross:
	$(Q)tools/build/deb.sh need $(if $(cross-prefix),gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross,gcc g++) libdrm-dev zlib1g-dev libncurses-dev
	$(if $(cross-prefix),$(Q)tools/build/deb.sh cross)
$(call tree-files,host$(san)) $(call guest-files,host): | need-host
$(call tree-files,arm64) $(call guest-files,arm64): | need-cross

# --- the modules -------------------------------------------------------------------------------
$(top)/build/deb/kdir-%:
	$(Q)tools/build/deb.sh kdir $(subst -, ,$*) > /dev/null

need-module:
	$(Q)tools/build/deb.sh need gcc bc kmod $(if $(filter-out $(native),$(karch)),gcc-aarch64-linux-gnu)

# without pahole no type information for BPF can be made, and kbuild would fail where vmlinux is there
no-btf := $(if $(shell command -v pahole),,CONFIG_DEBUG_INFO_BTF_MODULES=)

# kbuild writes beside its sources, so it gets a copy of them: build/<arch>-<release>/kmod.
# MODDIR puts that copy elsewhere.
.PHONY: module modules need-module
modules: module
module: need-module | $(filter $(top)/build/deb/%,$(KDIR))
	$(Q)rel=$$(sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h) || \
		{ echo "no kernel headers in $(KDIR): set KDIR" >&2; exit 1; }; \
	out=$(or $(MODDIR),$(top)/build/$(karch)-$$rel); \
	tools/build/mirror.sh $$out kmod uapi; \
	$(MAKE) --no-print-directory -C $(KDIR) M=$$out/kmod ARCH=$(KARCH) CROSS_COMPILE=$(CROSS_COMPILE) \
		$(if $(CCACHE),DEBIAN_KERNEL_USE_CCACHE=1) $(no-btf) modules; \
	$(if $(filter $(debian-kdir),$(KDIR)),$(if $(MODDIR),:,$(if $(filter arm64,$(karch)), \
		mkdir -p build/arm64/modules; cp -up $$out/kmod/*.ko build/arm64/modules/,:)),:)

# modules that only tests on the virtual board need
.PHONY: test-modules
test-modules: need-module | $(filter $(top)/build/deb/%,$(KDIR))
ifneq ($(wildcard selftests/dt/Kbuild),)
	$(Q)out=$(top)/build/arm64-test; \
	tools/build/mirror.sh $$out selftests/dt; \
	$(MAKE) --no-print-directory -C $(KDIR) M=$$out/selftests/dt ARCH=arm64 CROSS_COMPILE=$(CROSS_COMPILE) \
		$(if $(CCACHE),DEBIAN_KERNEL_USE_CCACHE=1) $(no-btf) modules; \
	mkdir -p build/arm64/modules; cp -up $$out/selftests/dt/*.ko build/arm64/modules/
endif

# --- the virtual board -------------------------------------------------------------------------
.PHONY: vboard-image vboard-parts need-dtc
vboard-image: vboard-parts $(patsubst selftests/%.dts,build/%.dtb,$(wildcard selftests/dt/*.dts))
	$(Q)tools/build/deb.sh need cpio kmod qemu-system-arm
	$(Q)tools/build/deb.sh board
	$(Q)tools/build/deb.sh digits
	@mkdir -p build/vboard
	$(Q)f=build/vboard/rootfs.cpio; \
	if [ ! -e $$f ] || [ -n "$$(find build/arm64/{modules,bin,lib,selftests} tools/board/init tools/bringup tools/build/image.sh \
			build/deb/board build/deb/digits.csv.gz -newer $$f -print -quit 2>/dev/null || :)" ]; then \
		$(if $(filter 1,$(V))$(silent),,printf '  %-7s %s\n' IMAGE $$f;) tools/build/image.sh $$f; \
	fi
# selftests/dt/NAME.dts behind the tree that qemu gives the board is build/dt/NAME.dtb, for vboard --dtb
build/dt/%.dtb: selftests/dt/%.dts build/dt/base.dtb
	$(call say,DTC,$@)
	$(Q)dtc -q -I dtb -O dts -o build/dt/$*.dts build/dt/base.dtb
	$(Q)sed '/^\/dts-v1\//d' $< >> build/dt/$*.dts
	$(Q)dtc -q -I dts -O dtb -o $@ build/dt/$*.dts
build/dt/base.dtb: tools/vboard | need-dtc
	@mkdir -p $(@D)
	$(Q)tools/vboard dumpdtb $@ 2> $@.log || { cat $@.log >&2; exit 1; }
need-dtc:
	$(Q)tools/build/deb.sh need device-tree-compiler qemu-system-arm
vboard-parts:
	$(Q)$(MAKE) --no-print-directory RKMM_LOCKED=1 ARCH=arm64 CROSS_COMPILE=$(cross-prefix) \
		KDIR=$(top)/build/deb/kdir-arm64-6.1 module test-modules arm64 selftests

# --- the rest ----------------------------------------------------------------------------------
-include tools/build/install.mk tools/build/targets.mk

.PHONY: clean distclean help
clean:
	$(call say,CLEAN,build)
	$(Q)cd build 2>/dev/null && rm -rf -- host host-san arm64 fuzz include vboard dt demo check dkms amd64-* arm64-* || :

distclean: clean
	$(Q)rm -rf build

help:
	@sed -n 's/^#help //p' Makefile

endif # wait-for-lock

#help make                    module, libraries, tools and selftests for this machine
#help make host               libraries, tools and host tests in build/host (SAN=1: sanitised, build/host-san)
#help make arm64              libraries and tools for arm64 in build/arm64
#help make selftests          guest tests (ARCH=arm64: build/arm64/selftests)
#help make module             rkmm.ko and rkmm_soft.ko in build/<arch>-<release>/kmod, against KDIR: the
#help                         running kernel's headers, or else Debian's. ARCH=arm64 takes Debian's arm64
#help                         headers (CROSS_COMPILE is found). W=1 and C=1 as in the kernel
#help make fuzz               libFuzzer programs in build/fuzz (clang)
#help make unit               run the host tests (SAN=1: the sanitised ones)
#help make check              every test, on the virtual board too, and every lint. STEPS="NAME..." takes
#help                         some; tools/build/check -l lists them
#help make check-debug        the guest tests on a kernel built with the kernel's own checks (lockdep, KASAN,
#help                         kmemleak, ...). TESTS="NAME..." takes some
#help make demo               build, boot the virtual board, multiply matrices there and verify
#help make shell              a prompt on the virtual board
#help make install            libraries, headers and tools: PREFIX, DESTDIR; ARCH=arm64 for a board
#help make install-dkms       the driver's sources to /usr/src, for: dkms install rkmm/VERSION
#help make deb                Debian packages in build/packages/ARCH (ARCH=arm64 for a board)
#help make gallery            build/gallery/index.html: tables, timelines, documents, as one page and its pages
#help make selftests-install  a run_kselftest tree in DESTDIR for a board (ARCH=arm64)
#help make clean, distclean   remove what was built; the unpacked Debian packages too
#help Everything takes V=1 (show commands) and -j.
