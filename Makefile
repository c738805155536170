# The developer's loop. CMake and Ninja do the work; CMakePresets.json has the builds: PRESET=gcc,
# clang, asan or tsan. Only demo, test and the setup targets install packages, and they say so first.
PRESET ?= gcc
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)
CTEST := ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)
SETUPS := setup-build setup-demo setup-test setup-lint setup-check setup-bench setup-kernels \
	setup-cross setup-package

.NOTPARALLEL: # Ninja and ctest run things in parallel
.PHONY: all help build quick demo test model check kill lint fmt bench loop fuzz cluster kernels \
	cross static package install clean $(SETUPS)

all: build ## build what can be built here, and run the unit tests
	$(CTEST) -L unit

help: ## print this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16
	@echo "  make setup-STEP installs the packages of a step: build, demo, test, lint, check, bench,"
	@echo "  kernels, cross, package"
	@echo "PRESET=gcc|clang|asan|tsan chooses the build; JOBS=N bounds compilers and tests at once"

build: ## build only; a part whose libraries are missing is left out
	@tools/setup --check build
	@mkdir -p build
	@cmake --preset $(PRESET) >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@sed -n 's/^-- usher: //p' build/configure.log
	@echo "building in $(BUILD)"
	@cmake --build $(BUILD) -j $(JOBS) $(if $(TARGET),--target $(TARGET)) -- --quiet

demo: setup-demo build ## show what usher does; installs missing packages
	@tools/demo $(BUILD)

test: setup-test build ## run every test that a change must pass; installs missing packages
	$(CTEST) -LE slow

quick: ## build and run the unit tests and the short crash tests
	@$(MAKE) --no-print-directory build TARGET=quick_tests
	$(CTEST) -L 'unit|quick'

model: build ## run the explorations that take minutes
	$(CTEST) -L slow

check: ## run everything: both compilers, sanitizers, model, kill, lint
	@tools/setup --check check
	$(MAKE) test PRESET=gcc
	$(MAKE) test PRESET=clang
	$(MAKE) test PRESET=asan
	$(MAKE) test PRESET=tsan
	$(MAKE) model PRESET=gcc
	$(MAKE) kill PRESET=gcc
	$(MAKE) lint

kill: build ## kill and stop a process at every machine instruction of every call
	@$(BUILD)/step_test slow
	@$(BUILD)/step_plain_test slow

lint: ## check formatting, clang-tidy, shell scripts, man pages
	@tools/setup --check lint
	@tools/lint

fmt: ## format all sources
	@git ls-files '*.c' '*.h' | xargs clang-format -i

bench: build ## measure against peers, side by side; writes docs/benchmarks.md
	@tools/setup --check bench
	@$(BUILD)/usher-bench --json $(BUILD)/bench.json --csv $(BUILD)/bench.csv --document docs

loop: build ## use a pool and every algorithm for real until one fails; SECONDS=, SEED=
	@tests/loop.sh $(BUILD) "$(SEED)" "$(SECONDS)"

fuzz: ## feed random input to every parser, for MINUTES each (10), with libFuzzer
	@tests/fuzz/run $(or $(MINUTES),10)

cluster: build ## test pools on three ZooKeeper servers that fail, and on clients that fail
	@tools/setup --check test
	@$(BUILD)/zk_cluster_test
	@$(BUILD)/zk_clients_test

kernels: build ## boot other kernels and test usher on them; KERNELS="6.1 6.12" or files, CPUS="1 2"
	@tools/setup --check kernels
	@tools/kernels $(BUILD) $(KERNELS)

cross: ## build and test for AArch64, riscv64, s390x and musl, under emulation; PROCESSORS=
	@tools/setup --check cross
	@tools/cross/run $(PROCESSORS)

static: ## pack a static usher for x86-64 and AArch64, made with musl
	@tools/setup --check cross
	@tools/static

package: ## build Debian, RPM, Arch, static and source packages, and try them out; STEPS=
	@tools/setup --check package
	@tools/package $(STEPS)

install: build ## install under /usr/local; PREFIX= and DESTDIR= choose another place
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

clean: ## remove all builds
	rm -rf build

$(SETUPS): setup-%:
	@tools/setup $*
