# Builds irrun and its library, runs the demo and the tests, installs. `make help` lists the targets.
# SPDX-License-Identifier: Apache-2.0
#
# Settings, given as `make NAME=VALUE`:
#   CC CFLAGS CPPFLAGS LDFLAGS   as everywhere; what the sources need is added to them
#   DEBUG=1                      no optimisation, in build/debug
#   SANITIZE=address,undefined   with these sanitizers, in build/sanitize-address-undefined
#   COVERAGE=1                   with counters of the lines that run, in build/coverage
#   BUILD=DIR                    where everything goes
#   WERROR=1                     a warning is an error
#   BLAS=link                    link the BLAS instead of loading it when it is needed: for programs
#                                without shared libraries (with LDFLAGS=-static)
#   V=1                          show the commands
#   PREFIX=/usr/local DESTDIR=   where `make install` puts things
#
# A new source, test or header needs no line here: everything is found by its place.

MAKEFLAGS += --no-builtin-rules
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:

comma := ,
goals := $(or $(MAKECMDGOALS),all)
dry_run := $(findstring n,$(filter-out -%,$(firstword $(MAKEFLAGS))))

PREFIX ?= /usr/local
PKG_CONFIG ?= pkg-config
ifneq ($(SANITIZE),)
BUILD ?= build/sanitize-$(subst $(comma),-,$(SANITIZE))
# -fPIC: gcc's code reads a variable of the sanitizer's library.
CFLAGS ?= -O1 -g -fPIC
instrument := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer -DSMALL_CODE
else ifneq ($(COVERAGE),)
BUILD ?= build/coverage
CFLAGS ?= -O1
instrument := --coverage
else ifneq ($(DEBUG),)
BUILD ?= build/debug
CFLAGS ?= -O0 -g3
else
BUILD ?= build
# A debugger gets the lines of kernels, but not their variables, which take a third of the time to compile.
kernel_cflags := $(if $(CFLAGS),,-O3 -g1)
# Whoever sets CFLAGS chooses these too. The kernels do without: they are loops over memory whose size
# only their callers know.
hardening := $(if $(CFLAGS),,-D_FORTIFY_SOURCE=2 -fstack-protector-strong)
CFLAGS ?= -O2 -g
endif

# `make clean all` runs both goals at a time, so clean comes first here, before any rule.
clean_first := $(and $(filter clean,$(goals)),$(filter-out clean,$(goals)))
ifneq ($(if $(dry_run),,$(clean_first)),)
$(shell rm -rf $(BUILD))
endif

# ---- What the machine has -----------------------------------------------------------------------

# The demo and the tests install what is missing before anything else is looked at; make -n does not.
ifneq ($(if $(dry_run),,$(filter demo test,$(goals))),)
$(shell CC='$(CC)' V='$(V)' scripts/install-deps.sh $(if $(filter test,$(goals)),test,demo) >&2)
ifneq ($(.SHELLSTATUS),0)
$(error cannot continue without these packages)
endif
endif

ifneq ($(filter-out clean help style uninstall,$(goals)),)
machine := $(shell $(CC) -dumpmachine)
# Where CBLAS is a library of its own, it has a module of its own.
blas_modules := $(shell $(PKG_CONFIG) --exists cblas && echo cblas) blas
modules := expat zlib
module_cflags := $(patsubst -I%,-isystem %,$(shell $(PKG_CONFIG) --cflags $(modules) $(blas_modules)))
module_libs := $(shell $(PKG_CONFIG) --libs $(modules) $(if $(filter link,$(BLAS)),$(blas_modules)))
ifneq ($(.SHELLSTATUS),0)
$(error a library is missing: run scripts/install-deps.sh (make demo and make test do it for you))
endif
endif

# ---- What there is to build ---------------------------------------------------------------------

# A file *_level.c is compiled for each SIMD level of the architecture (src/kernels/levels.def) that has kernels of its own in
# the column of the file's families (src/kernels/kernels.h), with the flags of the level.
architecture := $(firstword $(subst -, ,$(machine)))
has_amx := $(if $(filter x86_64,$(architecture)),$(shell echo 'void f(void) { __asm__("tilerelease"); }' | $(CC) -mamx-bf16 -c -x c -o /dev/null - 2>/dev/null && echo yes))
architectures := any|$(architecture)$(if $(has_amx),|x86_amx)
# Columns of the rows that fit: $2 id, $3 name, $4 architecture, $5 vectors, $6 bytes, $7 floats.
level_rows = $(shell awk -F '[(), "]+' '/^SIMD_LEVEL/ && $$4 ~ /^($(architectures))$$/ && $(1) { print $(2) }' src/kernels/levels.def)
levels := $(call level_rows,1,$$2)
level_names := $(call level_rows,1,$$3)
levels_vectors := $(call level_rows,$$5 == $$2,$$2)
levels_bytes := $(call level_rows,$$6 == $$2,$$2)
levels_floats := $(call level_rows,$$7 == $$2,$$2)
level_flags = $(addprefix -m,$(shell sed -n '/^SIMD_LEVEL.$(1),/ {n; s/[ ",]/ /gp;}' src/kernels/levels.def))
level_cflags = $(level_flags) -DLEVEL=$(1) -DVECTOR_LEVEL=$(call level_rows,$$2 == "$(1)",$$5)
$(foreach level,$(levels),$(eval cflags_$(level) := $(call level_cflags,$(level))))

all_sources := $(wildcard src/*.c src/*/*.c)
level_sources := $(filter %_level.c,$(all_sources))
family_sources = $(shell awk -F '[(), ]+' '$$2 == "FAMILY" && $$(NF-1) == "$(1)" { print "src/kernels/" $$3 "_level.c" }' src/kernels/kernels.h)
sources_bytes := $(call family_sources,bytes)
sources_floats := $(call family_sources,floats)
sources_vectors := $(filter-out $(sources_bytes) $(sources_floats),$(level_sources))
sources := $(filter-out %_level.c,$(all_sources))
main_sources := src/main.c
static_sources := src/static.c
cli_sources := $(filter src/cli/%,$(sources))
core_sources := $(filter-out $(main_sources) $(static_sources) $(cli_sources),$(sources))
unit_sources := $(wildcard tests/unit/test_*.c)
api_sources := $(wildcard tests/api/*.c)
kernel_test_sources := $(wildcard tests/kernels/*.c)
fault_sources := $(wildcard tests/faults/*.c)
fuzz_sources := $(wildcard tests/fuzz/*.c)
fuzz_targets := $(patsubst tests/fuzz/fuzz_%.c,%,$(filter-out %/replay.c %_mutator.c,$(fuzz_sources)))
headers := $(wildcard include/*.h src/*/*.h)

objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
programs = $(patsubst %.c,$(BUILD)/%,$(1))
level_objects := $(foreach column,vectors bytes floats,$(foreach level,$(levels_$(column)),\
	$(patsubst %.c,$(BUILD)/%.$(level).o,$(sources_$(column)))))
core_objects := $(level_objects) $(call objects,$(core_sources))

irrun := $(BUILD)/irrun
static := $(BUILD)/irrun-static
core := $(BUILD)/libcore.a
cli := $(BUILD)/libcli.a
completions := $(addprefix $(BUILD)/completions/irrun.,bash zsh fish)
pkg_config := $(BUILD)/irrun.pc
library := $(BUILD)/libirrun.a
# A static program has no use for it, and its compiler may have no libraries for it.
soname := libirrun.so.0
shared := $(if $(findstring -static,$(LDFLAGS)),,$(BUILD)/$(soname))
unit_tests := $(call programs,$(unit_sources))
api_tests := $(call programs,$(api_sources))
kernel_check := $(if $(kernel_test_sources),$(BUILD)/tests/kernels/check_kernels)
fault_sweep := $(BUILD)/tests/faults/sweep
fault_library := $(BUILD)/tests/faults/inject.so
fuzz_replays := $(fuzz_targets:%=$(BUILD)/tests/fuzz/replay_%)
fuzz_programs := $(fuzz_targets:%=$(BUILD)/tests/fuzz/fuzz_%)
# A *_body.h uses macros that its user defines, so it cannot stand alone; nor can what includes such bodies.
header_checks := $(patsubst %.h,$(BUILD)/%.alone,$(filter-out %_body.h src/kernels/each_%.h,$(headers)))

# ---- Flags --------------------------------------------------------------------------------------

warnings := -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(if $(WERROR),-Werror)
language := -std=c11 -D_GNU_SOURCE -ffp-contract=off
cppflags := -Isrc -Iinclude $(if $(has_amx),-DCOMPILER_HAS_AMX) $(module_cflags) $(CPPFLAGS)
cflags := $(language) $(warnings) -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections $(instrument) $(CFLAGS)
ldflags := -Wl,--gc-sections -Wl,--as-needed -Wl,-z,relro -Wl,-z,now $(instrument) $(LDFLAGS)
libs := $(module_libs) -lm -lpthread -ldl

# The tables of ops and options hold thousands of addresses, and relocating them takes a tenth of a run's start.
# A linker and a C library that can pack them do so: asked by linking and running a program.
define try_packing
mkdir -p $(BUILD) && echo 'int main(void) { return 0; }' >$(BUILD)/try.c &&
$(CC) $(LDFLAGS) -Wl,--fatal-warnings -Wl,-z,pack-relative-relocs -o $(BUILD)/try $(BUILD)/try.c 2>/dev/null &&
$(BUILD)/try && echo -Wl,-z,pack-relative-relocs
endef
packed_ldflags = $(if $(dry_run),,$(shell $(strip $(try_packing))))

# Two files ask for the BLAS by the name that its library has here.
blas_cflags = $(if $(filter link,$(BLAS)),,-DIRRUN_BLAS_LIBRARY='"$(shell CC='$(CC)' scripts/find-blas.sh \
    $$($(PKG_CONFIG) --libs $(blas_modules)))"')
file_cflags = $(if $(filter src/kernels/% src/tensor/convert_elements.c src/base/fast_hash.c,$(1)),$(kernel_cflags),$(hardening)) \
    $(if $(filter src/kernels/blas.c src/kernels/gemm_cblas.c,$(1)),$(blas_cflags))

# What irrun.pc says: libirrun.a comes without a list of what it needs.
pc_words := PREFIX VERSION MODULES LIBS
pc_PREFIX = $(PREFIX)
pc_VERSION = $(shell sed -n 's/^\#define IRRUN_VERSION "\(.*\)"/\1/p' include/irrun.h)
pc_MODULES = $(strip $(modules) $(if $(filter link,$(BLAS)),$(blas_modules)))
pc_LIBS = $(filter-out $(module_libs),$(libs))

# ---- Targets ------------------------------------------------------------------------------------

.PHONY: all static demo dist deb test test-faults test-deep test-cpus coverage analyze fuzz fuzz-programs bench check-kernels style clean install uninstall help objects check-programs FORCE
.DEFAULT_GOAL := all

all: $(irrun) $(shared) $(completions) ## build build/irrun

static: $(static) ## build build/irrun-static, which needs and loads no library (no wav, no CBLAS)

demo: $(irrun) ## build, then watch a speech detector at work (installs what is missing)
	@IRRUN=$(irrun) scripts/demo.sh

test: $(irrun) check-programs ## build, then run every test (installs what is missing)
	@BUILD=$(BUILD) tests/run.sh

fault_kinds := memory read open write close file short interrupt
test-faults: $(irrun) $(fault_sweep) $(fault_library) ## fail every single call of the system, which takes minutes
	@for kind in $(fault_kinds); do \
	    IRRUN=$(abspath $(irrun)) FAULTS_LIBRARY=$(abspath $(fault_library)) $(fault_sweep) $$kind all || exit 1; done

# PARTS: of the tests, to count what these reach alone.
coverage: ## run the tests and list the lines of src that none reaches (PARTS=; needs gcov)
	@$(MAKE) COVERAGE=1 all check-programs
	@scripts/coverage.sh run $(PARTS)
	@scripts/coverage.sh report

# SECONDS: for each fuzz target.
test-deep: $(irrun) check-programs ## the tests that take hours: kills, faults, fuzz targets, sanitizers (SECONDS=600)
	@SECONDS_EACH=$(SECONDS) scripts/test-deep.sh

analyze: ## static analysis of src by gcc, clang-tidy and cppcheck, those that are there
	@scripts/analyze.sh

check-kernels: $(kernel_check) ## compare every variant of the kernels with the scalar one, and time it
	@$(kernel_check) --speed

test-cpus: $(irrun) $(kernel_check) ## run kernels and cases on other CPUs, AArch64 among them, under qemu
	@BUILD=$(BUILD) CC='$(CC)' scripts/test-cpus.sh

# SECONDS: for each target; TARGETS: some of them.
SECONDS ?= 600
TARGETS ?= $(fuzz_targets)
fuzz: ## run the fuzz targets, which need clang, for a while each (SECONDS=600, TARGETS=)
	@if ! command -v clang >/dev/null; then echo 'fuzz: it needs clang with libFuzzer: apt-get install clang' >&2; exit 1; fi
	@$(MAKE) fuzz-programs CC=clang SANITIZE=fuzzer-no-link,address,undefined BUILD=build/fuzz
	@scripts/fuzz.sh $(SECONDS) $(TARGETS)

fuzz-programs: $(fuzz_programs)

# PYTHON: one that has openvino and numpy; PARTS: ops, models, grid; MODELS: directories of further models; ARGS: see bench/README.md.
PYTHON ?= python3
bench_needs = 'bench: skipped: it needs g++ and a Python with openvino and numpy (pip install openvino numpy; make bench PYTHON=...)'
bench: $(irrun) ## compare the speed of irrun and OpenVINO (PYTHON=, PARTS=, MODELS=, ARGS=); skipped without OpenVINO
	@if $(PYTHON) -c 'import numpy, openvino' 2>/dev/null && command -v g++ >/dev/null; then \
	    $(PYTHON) bench/bench.py --irrun $(irrun) $(addprefix --part ,$(PARTS)) $(addprefix --models ,$(MODELS)) $(ARGS); \
	else echo $(bench_needs); fi

style: ## check the layout of the sources; FIX=1 applies clang-format to them
	@scripts/check-style.sh $(if $(FIX),--fix)

clean: ## remove what was built
	$(if $(clean_first),@:,rm -rf $(BUILD))

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

# The core alone, for a compiler whose libraries are not here:
# make objects CC=aarch64-linux-gnu-gcc BUILD=build/aarch64
objects: $(core_objects)

check-programs: $(unit_tests) $(api_tests) $(kernel_check) $(fault_sweep) $(fault_library) $(fuzz_replays) $(header_checks)

# ---- Compile and link ---------------------------------------------------------------------------

# The demo is not to drown in the names of files: for it the whole of building is one line.
quiet := $(if $(V),,$(filter demo,$(goals)))
say = $(if $(V),,@$(if $(quiet),,printf '  %-4s %s\n' $(1) $(2) &&))
ifneq ($(and $(quiet),$(if $(dry_run),,yes)),)
$(if $(wildcard $(irrun)),,$(info   building $(irrun) (one to four minutes; V=1 shows the commands)))
endif

# Each of these files holds one line and changes when that line does: everything is rebuilt when
# the commands below change, the archives when a source comes or goes.
$(BUILD)/flags: line = $(CC) $(cppflags) $(cflags) $(kernel_cflags) $(hardening) $(ldflags) $(libs) $(foreach level,$(levels),$(cflags_$(level)))
$(BUILD)/sources: line = $(sources) $(level_objects)
$(BUILD)/pc_words: line = $(foreach word,$(pc_words),$(pc_$(word)))
$(BUILD)/flags $(BUILD)/sources $(BUILD)/pc_words: FORCE
	@mkdir -p $(@D)
	@echo '$(line)' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<) $(CC) $(cppflags) $(cflags) $(call file_cflags,$<) -MMD -MP -c -o $@ $<

# A sanitizer makes these files slow to compile: a fuzzer, which is built often, leaves them out.
level_instrument := $(if $(findstring fuzzer,$(SANITIZE)),-fno-sanitize=all)
define level_rule
$$(BUILD)/%.$(1).o: %.c $$(BUILD)/flags
	@mkdir -p $$(@D)
	$$(call say,CC,"$$< $(1)") $$(CC) $$(cppflags) $$(cflags) $$(kernel_cflags) $$(cflags_$(1)) $$(level_instrument) -MMD -MP -c -o $$@ $$<
endef
$(foreach level,$(levels),$(eval $(call level_rule,$(level))))

$(core): $(core_objects)
$(cli): $(call objects,$(cli_sources))
$(core) $(cli): $(BUILD)/sources
	@rm -f $@
	$(call say,AR,$@) $(AR) rcs $@ $(filter %.o,$^)

# The core comes first: its kernels take the longest to compile, and no processor is to wait for the last one.
$(irrun): $(core) $(cli) $(call objects,$(main_sources))
	$(call say,LINK,$@) $(CC) $(cflags) $(ldflags) $(packed_ldflags) -o $@ $(filter %.o,$^) $(cli) $(core) $(libs)

# It is made of the same objects, and loads nothing.
static_ldflags := -static -s -Wl,--wrap=dlopen,--wrap=dlsym,--wrap=dladdr,--wrap=dlerror
static_needs := 'static: a static library is missing: libc6-dev, libexpat1-dev and zlib1g-dev have them on Debian,' \
    'glibc-static, expat-static and zlib-static on Fedora, expat-static and zlib-static on Alpine'
$(static): $(call objects,$(main_sources) $(static_sources)) $(cli) $(core)
	@echo 'int main(void) { return 0; }' >$(BUILD)/try_static.c
	@$(CC) $(static_ldflags) -o $(BUILD)/try_static $(BUILD)/try_static.c $(libs) || { echo $(static_needs) >&2; exit 1; }
	$(call say,LINK,$@) $(CC) $(cflags) $(ldflags) $(static_ldflags) -o $@ $^ $(libs)

# The library as others get it: one object in which only irrun_* can be seen from outside.
$(BUILD)/irrun_library.o: $(core_objects) $(BUILD)/sources
	$(call say,LINK,$@) $(CC) -r -nostdlib -o $@ $(filter %.o,$^)
	@$(or $(OBJCOPY),$(shell $(CC) -print-prog-name=objcopy)) --wildcard --keep-global-symbol='irrun_*' $@

$(library): $(BUILD)/irrun_library.o
	@rm -f $@
	$(call say,AR,$@) $(AR) rcs $@ $^

# The shared library has the same objects, which compilers make to be loaded anywhere; for one that does not:
# make CFLAGS='-O2 -g -fPIC'. Its own names are bound when it is linked: clang expects that of code that is not -fPIC.
$(shared): $(core_objects) $(BUILD)/sources irrun.map
	$(call say,LINK,$@) $(CC) $(cflags) $(ldflags) -shared -Wl,-Bsymbolic -Wl,-soname,$(soname) -Wl,--version-script=irrun.map -o $@ \
	    $(filter %.o,$^) $(libs)

# A unit test may ask for linker flags in a comment of its own: /* link: -Wl,--wrap=malloc */
$(unit_tests): %: %.o $(cli) $(core)
	$(call say,LINK,$@) $(CC) $(cflags) $(ldflags) -o $@ $^ $$(sed -n 's,^/\* link: \(.*\) \*/$$,\1,p' $(@:$(BUILD)/%=%).c) \
	    $(libs) -lcmocka

$(kernel_check): $(call objects,$(kernel_test_sources)) $(core)
	$(call say,LINK,$@) $(CC) $(cflags) $(ldflags) -o $@ $^ $(libs)

$(fault_sweep): $(call objects,$(filter-out %/inject.c,$(fault_sources)))
	$(call say,LINK,$@) $(CC) $(cflags) $(ldflags) -o $@ $^ $(libs)

# A target alone replays files; with libFuzzer it finds them. The first wraps what limits the work of a model.
fuzz_ldflags = $(if $(filter %_model,$@),-Wl$(comma)--wrap=infer_op -Wl$(comma)--wrap=runner_run)
$(fuzz_replays): $(BUILD)/tests/fuzz/replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay.o $(cli) $(core)
	$(call say,LINK,$@) $(CC) $(cflags) $(ldflags) $(fuzz_ldflags) -o $@ $^ $(libs)

$(fuzz_programs): $(BUILD)/tests/fuzz/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(call objects,$(wildcard tests/fuzz/*_mutator.c)) $(cli) $(core)
	$(call say,LINK,$@) $(CC) $(cflags) $(ldflags) $(fuzz_ldflags) -fsanitize=fuzzer -o $@ \
	    $(filter-out $(filter-out %/fuzz_$*_mutator.o,$(filter %_mutator.o,$^)),$^) $(libs)

# It takes the place of malloc in any program that has a loader: no sanitizer, never static.
$(fault_library): tests/faults/inject.c tests/faults/fault_plan.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK,$@) $(CC) $(cppflags) $(filter-out $(instrument),$(cflags)) -shared -fPIC -o $@ $< -ldl

# These see what the owner of an installed irrun sees: the header and the library.
$(api_tests): $(BUILD)/%: %.c $(library)
	@mkdir -p $(@D)
	$(call say,LINK,$@) $(CC) -Iinclude $(CPPFLAGS) $(cflags) $(ldflags) -MMD -MP -o $@ $< $(library) $(libs)

# The completions are made from the lists of options and levels.
$(completions): $(BUILD)/%: % src/cli/options.def src/formats/formats.def src/kernels/levels.def scripts/make-completion.sh
	@mkdir -p $(@D)
	$(call say,GEN,$@) CC='$(CC)' scripts/make-completion.sh src/cli/options.def src/formats/formats.def $< $(level_names) >$@

# Every header compiles alone.
$(BUILD)/%.alone: %.h $(BUILD)/flags
	@mkdir -p $(@D)
	@$(CC) $(cppflags) $(filter-out $(instrument),$(cflags)) -MMD -MP -MF $@.d -MT $@ -fsyntax-only -x c -include $< /dev/null
	@touch $@

$(pkg_config): irrun.pc.in include/irrun.h $(BUILD)/pc_words
	@mkdir -p $(@D)
	$(call say,GEN,$@) sed $(foreach word,$(pc_words),-e 's,@$(word)@,$(pc_$(word)),') $< >$@

-include $(patsubst %.o,%.d,$(call objects,$(sources) $(unit_sources) $(kernel_test_sources) $(fault_sources) $(fuzz_sources)) $(level_objects))
-include $(api_tests:=.d) $(header_checks:=.d)

# ---- Install ------------------------------------------------------------------------------------

bin_dir := $(DESTDIR)$(PREFIX)/bin
lib_dir := $(DESTDIR)$(PREFIX)/lib
include_dir := $(DESTDIR)$(PREFIX)/include
man_dir := $(DESTDIR)$(PREFIX)/share/man
completion_bash := $(DESTDIR)$(PREFIX)/share/bash-completion/completions/irrun
completion_zsh := $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_irrun
completion_fish := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/irrun.fish
shared_file := libirrun.so.$(pc_VERSION)
share_dir := $(DESTDIR)$(PREFIX)/share/irrun
share_files := $(wildcard examples/*) python/irrun.py $(addprefix models/speech_watch/,model.xml model.bin minute.ogg)
pages := $(wildcard man/*.[0-9])
section = $(patsubst .%,%,$(suffix $(1)))

install: $(irrun) $(library) $(shared) $(completions) $(pkg_config) ## install below PREFIX (/usr/local): program, libraries, manual
	install -d $(bin_dir) $(lib_dir)/pkgconfig $(include_dir)
	install -s -m 755 $(irrun) $(bin_dir)/irrun
	install -m 644 $(library) $(lib_dir)/libirrun.a
	$(or $(STRIP),strip) --strip-debug $(lib_dir)/libirrun.a
	$(if $(shared),install -s -m 644 $(shared) $(lib_dir)/$(shared_file))
	$(if $(shared),ln -sf $(shared_file) $(lib_dir)/$(soname))
	$(if $(shared),ln -sf $(soname) $(lib_dir)/libirrun.so)
	install -m 644 $(pkg_config) $(lib_dir)/pkgconfig/irrun.pc
	install -m 644 include/irrun.h $(include_dir)/irrun.h
	$(foreach page,$(pages),install -D -m 644 $(page) \
	    $(man_dir)/man$(call section,$(page))/$(notdir $(page)) &&) :
	$(foreach shell,bash zsh fish,install -D -m 644 $(BUILD)/completions/irrun.$(shell) $(completion_$(shell)) &&) :
	$(foreach file,$(share_files),install -D -m $(if $(filter %.awk %.sh,$(file)),755,644) $(file) $(share_dir)/$(file) &&) :

# Both give the same bytes from the same commit: the time in them is the commit's.
dist_name := irrun-$(pc_VERSION)
dist: ## make build/irrun-VERSION.tar.gz of what is committed
	@mkdir -p $(BUILD)
	$(call say,TAR,$(BUILD)/$(dist_name).tar.gz) git archive --format=tar --prefix=$(dist_name)/ HEAD | gzip -9n >$(BUILD)/$(dist_name).tar.gz

deb: $(irrun) $(library) $(shared) $(completions) ## make a Debian package in build (needs dpkg-deb)
	@BUILD=$(BUILD) CC='$(CC)' MAKE='$(MAKE)' scripts/make-deb.sh $(pc_VERSION)

uninstall: ## remove what install put there
	rm -f $(bin_dir)/irrun $(lib_dir)/libirrun.a $(lib_dir)/pkgconfig/irrun.pc $(include_dir)/irrun.h
	rm -f $(completion_bash) $(completion_zsh) $(completion_fish)
	rm -f $(addprefix $(lib_dir)/,libirrun.so $(soname) $(shared_file))
	rm -f $(addprefix $(share_dir)/,$(share_files))
	rm -f $(foreach page,$(pages),$(man_dir)/man$(call section,$(page))/$(notdir $(page)))
