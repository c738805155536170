# The developer's loop. CMake and Ninja do the work; see CMakePresets.json for the builds.
PRESET ?= gcc
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)
CTEST := ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

.PHONY: all help build demo test model kill check lint fmt bench loop fuzz install clean setup-test setup-check setup-bench

all: build ## build, and run the quick tests
	$(CTEST) -L unit

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

build: ## build only
	@tools/setup build
	@cmake --preset $(PRESET) >build-configure.log 2>&1 || { cat build-configure.log; exit 1; }
	@rm -f build-configure.log
	@echo "building in $(BUILD)"
	@cmake --build $(BUILD) -- --quiet

demo: build ## show what it does
	@tools/demo $(BUILD)

test: setup-test build ## every test that a change must pass
	$(CTEST) -LE slow

model: setup-test build ## the explorations that take minutes
	$(CTEST) -L slow

check: setup-check ## all of it: both compilers, sanitizers, lint
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

lint: setup-check ## formatting, clang-tidy, shell scripts, man pages
	@tools/lint

fmt: ## format all sources
	@git ls-files '*.c' '*.h' | xargs clang-format -i

bench: setup-bench build ## measure against peers, side by side; writes docs/benchmarks.md
	@$(BUILD)/usher-bench --json $(BUILD)/bench.json --csv $(BUILD)/bench.csv --document docs

loop: build ## a crowd on a pool and every algorithm for real, until one fails; SECONDS=, SEED=
	@tests/loop.sh $(BUILD) "$(SEED)" "$(SECONDS)"

fuzz: setup-check ## feed every input anything, for MINUTES each (10), with libFuzzer
	@tests/fuzz/run $(or $(MINUTES),10)

.PHONY: cluster
cluster: setup-test build ## pools on three ZooKeeper servers: killed, stopped, cut off, and so are clients
	@$(BUILD)/zk_cluster_test
	@$(BUILD)/zk_clients_test

install: build
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))

clean:
	rm -rf build

setup-test setup-check setup-bench: setup-%:
	@tools/setup $*
