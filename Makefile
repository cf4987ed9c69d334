# SPDX-License-Identifier: Apache-2.0
# The front door, thin: each goal is a script or a call of cmake or ctest. `make help` lists them.
#   PRESET=release|dev|asan|tsan|mpich  JOBS=n  PREFIX=folder (install)  TESTS=regex  TEST_JOBS=n (test)
PRESET ?= release
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Ranks wait for each other and for the disk: twice as many tests at a time keep the cores busy.
TEST_JOBS ?= $(shell echo $$(($(JOBS) * 2)))
PREFIX ?= $(HOME)/.local
BUILD := build/$(PRESET)
VENV := build/venv/bin
SETUP := cmake/setup
CMAKE := $(VENV)/cmake
MPI := $(if $(filter mpich,$(PRESET)),mpich,default)
PACKAGES := packages-build.txt $(if $(filter mpich,$(PRESET)),packages-mpich.txt)

.DEFAULT_GOAL := help
.PHONY: help setup setup-test build programs demo test sanitize check-slice bench lint format docs install bundle wheel clean requirements

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "  PRESET=release|dev|asan|tsan|mpich, JOBS=n, PREFIX=folder, TESTS=regex, TEST_JOBS=n"

setup: ## system packages, private Python environment, HDF5 and netCDF-C; nothing twice
	@$(SETUP)/system.sh $(PACKAGES)
	@$(SETUP)/python.sh
	@$(SETUP)/libraries.sh $(MPI)

setup-test: ## the same, with what tests, benchmarks and lint want beside
	@$(SETUP)/system.sh $(PACKAGES) packages-test.txt
	@$(SETUP)/python.sh test
	@$(SETUP)/libraries.sh $(MPI)

build: setup-test ## everything, in build/$(PRESET)
	@$(SETUP)/configure.sh $(PRESET)
	@$(CMAKE) --build $(BUILD) --parallel $(JOBS)

programs: setup ## what a person runs, in $(BUILD): no tests
	@$(SETUP)/configure.sh $(PRESET)
	@$(CMAKE) --build $(BUILD) --parallel $(JOBS) --target tailrace_programs

demo: programs ## the seism kernel on 8 ranks, verified; then four settings compared in a report
	@$(SETUP)/demo.sh $(BUILD)/env.sh

test: build ## all tests
	@$(SETUP)/docs.sh packages
	@$(SETUP)/wheels.sh
	@$(SETUP)/older_hdf5.sh $(BUILD) $(MPI) $(JOBS)
	@$(SETUP)/test.sh $(BUILD) $(TEST_JOBS) '$(TESTS)'

sanitize: setup-test ## comm and server, their ranks as threads, under TSan, ASan and UBSan
	@$(SETUP)/sanitize.sh $(JOBS)

check-slice: programs ## the published default test set (943 MB) on 8 ranks, every element verified
	@$(SETUP)/check_slice.sh $(BUILD)/env.sh

bench: build ## the benchmarks of bench/, with their goals
	@$(SETUP)/bench.sh $(BUILD)

lint: build ## clang-format, clang-tidy, ruff, mypy, the include arrows
	@$(SETUP)/lint.sh $(BUILD) $(JOBS)

format: setup-test ## lets clang-format and ruff write
	@$(SETUP)/lint.sh --fix

docs: ## the documentation site, in build/site; links are checked
	@$(SETUP)/python.sh
	@$(SETUP)/docs.sh site

install: programs ## into PREFIX (default ~/.local)
	@$(SETUP)/install.sh $(BUILD) $(PREFIX)

bundle: programs ## one archive that installs offline, without root
	@$(SETUP)/bundle.sh $(BUILD)

wheel: setup ## dist/tailrace-*.whl: pip installs it without a compiler
	@$(SETUP)/wheel.sh

clean: ## removes what was built here (the superbuild's cache stays)
	rm -rf build/release build/dev build/asan build/tsan build/mpich env.sh dist

requirements: ## pins requirements.in anew
	@$(SETUP)/pin_requirements.sh
