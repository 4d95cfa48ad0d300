#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# tools/run-tests: in a build that was made without tests, as 'make demo' leaves it, the tests' programs are built before tests start.

load lib

@test "a build without tests becomes one with tests" {
	need meson ninja python3
	mkdir -p "$T/p/tests"
	cd "$T/p"
	echo "option('tests', type: 'boolean', value: false)" >meson_options.txt
	cat >meson.build <<-'END'
		project('p')
		custom_target('product', output: 'product', command: ['touch', '@OUTPUT@'], build_by_default: true)
		if get_option('tests')
		  subdir('tests')
		endif
	END
	echo "custom_target('victim', output: 'victim', command: ['touch', '@OUTPUT@'], build_by_default: true)" >tests/meson.build
	meson setup build >setup.log
	ninja -C build >first.log
	[ ! -e build/tests/victim ]
	python3 - "$ROOT/tools/run-tests" <<-'END'
		import importlib.machinery, importlib.util, os, sys
		sys.dont_write_bytecode = True
		loader = importlib.machinery.SourceFileLoader('runner', sys.argv[1])
		runner = importlib.util.module_from_spec(importlib.util.spec_from_loader('runner', loader))
		loader.exec_module(runner)
		build = runner.Build('build', 'build', ['-Dtests=true'], lambda: runner.outside_units('build'), list)
		_, status = os.waitpid(build.start('log', 1, 0), 0)
		sys.exit(os.waitstatus_to_exitcode(status))
	END
	[ -e build/tests/victim ]
}
