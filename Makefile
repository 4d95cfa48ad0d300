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
	@tools/deps build demo test
	@tools/run-tests

# Needs no network and no root beyond what DESTDIR and PREFIX ask for.
install: all
	@tools/install $(BUILD) "$(DESTDIR)" "$(PREFIX)"

clean:
	rm -rf build build-asan build-fuzz

.PHONY: all demo test check install clean
