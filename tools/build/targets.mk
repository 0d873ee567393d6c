# SPDX-License-Identifier: MIT
#
# Targets that run things, and lists that scripts ask for.

# not a part of check: it builds a kernel first
.PHONY: check-debug
check-debug:
	+@tools/debug/check $(TESTS)

.PHONY: gallery
gallery:
	+@tools/build/gallery.sh

.PHONY: deb prepared
deb:
	$(call say,DEB,build/packages/$(karch))
	$(Q)tools/build/make-deb.sh $(karch)
# what a build of packages takes from here
prepared: $(if $(filter arm64,$(karch)),need-cross,need-host) $(lib-headers) $(ktools)

.PHONY: check demo unit shell print-unit print-guest print-guest-script print-fuzz print-tools
check:
	+@tools/build/check $(STEPS)

demo:
	+@tools/build/demo

shell:
	+@tools/vboard shell

unit: host
	@for t in $(tests-host$(san)); do build/host$(san)/bin/$$t || exit 1; done

print-unit:
	@printf '%s\n' $(tests-host)
print-guest:
	@$(foreach t,$(sort $(guest-tests)) $(guest-scripts),printf '%s\t%s\n' $(notdir $(t)) '$($(notdir $(t))-vboard)';) :
# what is installed and run by name
print-tools:
	@printf '%s\n' $(sort $(installed-bins) $(notdir $(installed-scripts)))
print-fuzz:
	@$(foreach f,$(fuzzers-fuzz),echo $(f) $(or $($(f)-runs),5000);) :
