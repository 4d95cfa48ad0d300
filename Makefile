# SPDX-License-Identifier: GPL-2.0-or-later
# The front door. `make` leaves build/pmm and build/libpmm.so, which work from there.
BUILD  ?= build
PREFIX ?= /usr/local

all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@tools/deps build
	meson setup $(BUILD) --prefix=$(PREFIX)

# Install what is missing, build, track a real program and print the report.
demo:
	@tools/deps build demo
	@$(MAKE) --no-print-directory all
	@tools/demo $(BUILD)

# Install what is missing, build, run every test.
test check:
	@tools/deps build demo test guest
	@tools/run-tests

# What runs in guests with Debian's kernel 6.1 in `make test`, with the oldest and the newest one too.
trace-matrix:
	@tools/deps build test guest
	@GUEST_KERNELS="5.10 6.1 6.12" GUEST_TESTS="commands trace*" tools/run-tests guest/

# The kernel module: built for and loaded into five kernels, one of them of arm64.
kmod-matrix:
	@tools/deps build test guest kmod
	@GUEST_KERNELS="5.10 6.1 6.12 newest arm64-6.1" GUEST_TESTS="kmod_*" tools/run-tests guest/

# The kernel module in a kernel that looks for what modules do wrong (KASAN, lockdep, kmemleak, ...). That is built first: ten minutes or more.
kmod-debug: all
	@tools/deps build test guest kmod
	tests/guest/build-debug $(BUILD)/guest
	@GUEST_KERNELS=debug GUEST_TESTS="kmod_*" GUEST_SECONDS=3600 GUEST_THREADS=multi tools/run-tests guest/

# User stacks of pmm trace beside gdb's at 1000 events of five programs; `make test` compares 200.
trace-gdb:
	@tools/deps build test
	@TRACE_GDB_EVENTS=1000 tools/run-tests cli/trace_gdb

# Ten of Debian's servers at steady load for a minute, under pmm and attached to: none may have a likely leak.
servers: all
	@tools/deps servers
	python3 bench/servers.py --pmm $(BUILD)/pmm
	python3 bench/servers.py --pmm $(BUILD)/pmm --attach

# Thousands of generated programs with one heap bug each, and their correct twins, at every level of 'pmm check' and under AddressSanitizer and
# memcheck: the table of doc/check.md. Some ten minutes, and more for another SEED.
SEED ?= 7
bugs: all
	tests/bugs/bugs.py --seed $(SEED) --count 2400 --level light,guard,left,exhaustive,sampled,sampled-default --peer asan,memcheck --table
	tests/bugs/bugs.py --seed $(SEED) --count 800 --level attached --table

# A program killed at 5000 random moments, and its capture compared with the truth that it keeps; `make test` kills 140 times. SEED=N: other moments.
KILLS ?= 5000
kills: all
	ninja -C $(BUILD) tests/prog/kill_driver tests/prog/kill_victim tests/prog/kill_victim_safe
	@directory=$$(mktemp -d) && trap 'rm -rf "$$directory"' EXIT && \
		$(BUILD)/tests/prog/kill_driver "$(abspath $(BUILD))/pmm" "$(abspath $(BUILD))/tests/prog/kill_victim" "$$directory" $(KILLS) $(SEED)

# A program whose ledger is read at random moments while it runs, and compared with the truth that it keeps; `make test` has 40 cases. SEED=N: others.
CASES ?= 2000
readers: all
	ninja -C $(BUILD) tests/prog/readers_driver tests/prog/readers_victim tests/prog/readers_victim_dense
	@directory=$$(mktemp -d) && trap 'rm -rf "$$directory"' EXIT && \
		$(BUILD)/tests/prog/readers_driver "$(abspath $(BUILD))/pmm" "$(abspath $(BUILD))/tests/prog/readers_victim" "$$directory" $(CASES) $(SEED)

# Six of Debian's programs at their end, by memcheck and by pmm: the table of doc/leaks.md, "Packaged programs". A minute.
memcheck: all
	@tools/deps memcheck
	tests/memcheck/memcheck.py --pmm $(BUILD)/pmm

# Needs no network and no root beyond what DESTDIR and PREFIX ask for.
install: all
	@tools/install "$(abspath $(BUILD))" "$(DESTDIR)" "$(PREFIX)"

# What `make install` or `meson install` has put there, and nothing else.
uninstall:
	@tools/install --remove "$(DESTDIR)" "$(PREFIX)"

clean:
	rm -rf build build-asan build-fuzz

.PHONY: all bugs demo test check kills kmod-debug kmod-matrix memcheck readers servers trace-matrix trace-gdb install uninstall clean
