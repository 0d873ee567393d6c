# SPDX-License-Identifier: MIT
#
# Installation: the userspace of one tree, the module's sources for DKMS, the tests.

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
# rules are read there, below /usr/local they are not
UDEVDIR ?= $(if $(filter /usr,$(PREFIX)),/lib/udev/rules.d,/etc/udev/rules.d)
EXAMPLEDIR ?= $(PREFIX)/share/doc/rkmm/examples
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
# where Debian's python3 looks
PYTHONDIR ?= $(PREFIX)/lib/python$(if $(filter /usr,$(PREFIX)),3,$(shell /usr/bin/python3 -c \
	'import sys; print("%d.%d" % sys.version_info[:2])' 2> /dev/null))/dist-packages
DKMSDIR ?= /usr/src/rkmm-$(VERSION)

# programs of tools/ are installed, examples and tests are not
installed-bins := $(foreach b,$(bins-$(utree)),$(if $(filter tools/%,$($(b)-srcs)),$(b)))

installed-scripts := tools/switch/rkmm-switch tools/bringup/rkmm-bringup

.PHONY: install install-dkms selftests-install
install: $(utree)
	$(call say,INSTALL,$(DESTDIR)$(PREFIX))
	$(Q)install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/rkmm
	$(Q)$(foreach b,$(installed-bins),install -m 755 build/$(utree)/bin/$(b) $(DESTDIR)$(BINDIR)/;) :
	$(Q)install -m 755 $(installed-scripts) $(DESTDIR)$(BINDIR)/
	$(Q)install -d $(DESTDIR)$(PREFIX)/share/rkmm/bringup
	$(Q)install -m 644 tools/bringup/steps/*.sh $(DESTDIR)$(PREFIX)/share/rkmm/bringup/
	$(Q)$(foreach l,$(shlibs-$(utree)), \
		install -m 755 build/$(utree)/lib/$(call soname,$(l)) $(DESTDIR)$(LIBDIR)/lib$(l).so.$($(l)-version); \
		ln -sf lib$(l).so.$($(l)-version) $(DESTDIR)$(LIBDIR)/$(call soname,$(l)); \
		ln -sf $(call soname,$(l)) $(DESTDIR)$(LIBDIR)/lib$(l).so; \
		install -m 644 build/$(utree)/lib/lib$(l).a $(DESTDIR)$(LIBDIR)/; \
		install -m 644 $($(l)-headers) $(DESTDIR)$(INCLUDEDIR)/rkmm/; \
		sed -e 's|@prefix@|$(PREFIX)|' -e 's|@libdir@|$(LIBDIR)|' -e 's|@includedir@|$(INCLUDEDIR)|' \
			-e 's|@version@|$(VERSION)|' $($(l)-pc) > $(DESTDIR)$(LIBDIR)/pkgconfig/lib$(l).pc;) :
	$(Q)$(foreach p,$(wildcard Documentation/man/*.[1-9]),install -D -m 644 $(p) \
		$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(p)))/$(notdir $(p));) :
	$(Q)install -D -m 644 tools/udev/60-rkmm.rules $(DESTDIR)$(UDEVDIR)/60-rkmm.rules
	$(Q)install -d $(DESTDIR)$(EXAMPLEDIR)
	$(Q)install -m 644 tools/udev/rkmm-autoload.conf tools/udev/rkmm-governors.service $(DESTDIR)$(EXAMPLEDIR)/
	$(Q)install -D -m 644 tools/completion/rkmm $(DESTDIR)$(COMPLETIONDIR)/rkmm-info
	$(Q)$(foreach t,$(filter-out rkmm-info,$(installed-bins) $(notdir $(installed-scripts))), \
		ln -sf rkmm-info $(DESTDIR)$(COMPLETIONDIR)/$(t);) :
	$(Q)install -d $(DESTDIR)$(PYTHONDIR)/rkmm
	$(Q)install -m 644 lib/python/rkmm/*.py $(DESTDIR)$(PYTHONDIR)/rkmm/

# then: dkms install rkmm/$(VERSION)
install-dkms:
	$(call say,INSTALL,$(DESTDIR)$(DKMSDIR))
	$(Q)install -d $(DESTDIR)$(DKMSDIR)
	$(Q)tools/build/mirror.sh $(DESTDIR)$(DKMSDIR) kmod uapi
	$(Q)rm -f $(DESTDIR)$(DKMSDIR)/.sources; cp -r dkms.conf Kbuild LICENSES $(DESTDIR)$(DKMSDIR)/

# a tree that run_kselftest.sh of the kernel runs, on a board that has no compiler
KSFT_INSTALL ?= /kselftest
ksft = $(DESTDIR)$(KSFT_INSTALL)
selftests-install: selftests | $(ktools)
	$(call say,INSTALL,$(ksft))
	$(Q)install -d $(ksft)/kselftest $(ksft)/rkmm $(ksft)/lib
	$(Q)install -m 755 build/ktools/selftests/run_kselftest.sh $(ksft)/
	$(Q)install -m 755 build/ktools/selftests/kselftest/* $(ksft)/kselftest/
	$(Q)for t in $(call guest-files,$(utree)); do install -m 755 $$t $(ksft)/rkmm/; done
	$(Q)for l in $(foreach l,$(shlibs-$(utree)),build/$(utree)/lib/$(call soname,$(l))); do \
		install -m 755 $$l $(ksft)/lib/; done
	$(Q)for f in $(wildcard selftests/config selftests/settings); do install -m 644 $$f $(ksft)/rkmm/; done
	$(Q)install -m 755 lib/python/tests/test_rkmm.py $(ksft)/rkmm/
	$(Q)printf '%s\n' $(patsubst %,rkmm:%,$(notdir $(guest-tests) $(guest-scripts))) | LC_ALL=C sort \
		> $(ksft)/kselftest-list.txt
