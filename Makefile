# SPDX-License-Identifier: Apache-2.0
#
# Thin names over Meson and the tools. `make run` and `make test` set up a fresh machine by
# themselves; `make build` only builds.

# The Python of the system, not one that happens to come first in PATH: Meson runs on it too.
PATH := /usr/bin:/bin:/usr/sbin:/sbin:$(PATH)
export PATH
PYTHON := /usr/bin/python3
# A byte-code cache in the tree would make a clean checkout dirty.
export PYTHONDONTWRITEBYTECODE := 1

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 30
COVERAGE_MIN ?= 89

SETUP := tools/setup
NINJA := ninja -j $(JOBS)
WERROR := $(if $(filter true,$(CI)),--werror)

.PHONY: all build run test lint coverage sanitize fuzz bench soak vm-test install clean help

all: build

help:
	@sed -n 's/^## //p' Makefile

# Configure a build directory once; Meson reconfigures by itself when its files change.
define configure
	@tools/fetch-grammars
	@test -f $(1)/build.ninja || meson setup $(1) $(WERROR) $(2) >$(1).log 2>&1 || \
		{ cat $(1).log; rm -rf $(1) $(1).log; exit 1; }
	@rm -f $(1).log
endef

## make build     build the program and the library in build/
build:
	$(call configure,build,-Dtests=false)
	@$(NINJA) -C build

## make run       set up, build, and run the examples sealed
run:
	@$(SETUP) build
	@$(MAKE) --no-print-directory build
	@examples/show build/src/belljar

## make test      set up, build, run every test; ends with "N passed, N failed"
test:
	@$(SETUP) build test vm lint coverage docker
	$(call configure,build-test,-Dfaults=true)
	@$(NINJA) -C build-test
	@$(PYTHON) tools/run-tests build-test

## make vm-test   only the tests that boot a cgroup v2 machine
vm-test:
	@$(SETUP) build test vm
	$(call configure,build-test,-Dfaults=true)
	@$(NINJA) -C build-test
	@$(PYTHON) tools/run-tests build-test vm

## make lint      format, static analysis, layers
lint:
	@$(SETUP) build test lint
	@tools/lint

## make coverage  run the tests on an instrumented build; fails below 89 % of lines
coverage:
	@$(SETUP) build test coverage
	$(call configure,build-cov,-Dfaults=true -Dcoverage=true -Dbuildtype=debug)
	@$(NINJA) -C build-cov
	@COVERAGE_MIN=$(COVERAGE_MIN) tools/coverage build-cov

## make sanitize  unit and system tests under ASan and UBSan
sanitize:
	@$(SETUP) build test
	$(call configure,build-san,-Dfaults=true -Db_sanitize=address$(comma)undefined -Db_lundef=false)
	@$(NINJA) -C build-san
	@ASAN_OPTIONS=$${ASAN_OPTIONS:-detect_leaks=1} UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		BELLJAR_SANITIZED=1 $(PYTHON) tools/run-tests build-san unit system
comma := ,

## make fuzz      each libFuzzer target for FUZZ_SECONDS (30)
fuzz:
	@$(SETUP) build fuzz
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tools/fuzz build-fuzz

## make bench     measure against bubblewrap and bare interpreters; writes docs/benchmarks.md
bench:
	@$(SETUP) build bench
	@$(MAKE) --no-print-directory build
	@bench/run build/src/belljar

## make soak      the long tests with their full counts; writes docs/soak.md (SOAK="unit serve": only these stages)
soak:
	@$(SETUP) build test docker
	$(call configure,build-test,-Dfaults=true)
	@$(NINJA) -C build-test
	@tools/soak build-test $(SOAK)

## make install   install below PREFIX (/usr/local); DESTDIR is understood
install:
	$(call configure,build-install,-Dtests=false -Dbuildtype=release --prefix=$(PREFIX))
	@meson install -C build-install

## make clean     remove everything that was built
clean:
	rm -rf build build-test build-cov build-san build-fuzz build-lint build-install
