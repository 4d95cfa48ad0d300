#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# tools/check-layers finds one offence of each kind in a small tree, says which, and finds nothing else there.

load lib

setup() {
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree"/{doc,src/base,src/view/check,src/cmd,agent,shim,tests/unit,tests/cli,tools/check} && cd "$tree"
	cat >doc/ARCHITECTURE.md <<-'END'
		<!-- SPDX-License-Identifier: GPL-2.0-or-later -->
		| `src/base/` | | base |
		| `src/view/` | `src/base/` | views |
		| `src/cmd/` | `src/base/`, `src/view/` | commands |
	END
	header src/base/text.h BASE_TEXT_H 'int text(void);'
	source src/base/text.c '#include "src/base/text.h"' '' 'int text(void)' '{' '	return 1;' '}'
}

source() {	# PATH LINE...: a C file
	local path=$1
	shift
	printf '%s\n' "/* SPDX-License-Identifier: GPL-2.0-or-later */" "/* A file. */" "$@" >"$path"
}

header() {	# PATH GUARD LINE...
	local path=$1 guard=$2
	shift 2
	source "$path" "#ifndef $guard" "#define $guard" "$@" "#endif"
}

known() { printf '%s\n' "# SPDX-License-Identifier: GPL-2.0-or-later" "$@" >tools/check/known; }

# The rule of that name finds exactly these offences, and no other rule finds any; none given: all is well.
finds() {
	local rule=$1 expected
	shift
	run "$BATS_TEST_DIRNAME/../../tools/check-layers" --tree "$tree"
	expected=$(printf '# %s\n' "$@")
	[ $# -gt 0 ] || expected=
	diff <(grep '^#' <<<"$output") <(printf '%s' "${expected:+$expected$'\n'}")
	if [ $# = 0 ]; then
		[ "$status" = 0 ]
		return
	fi
	[ "$status" = 1 ]
	diff <(grep '^not ok' <<<"$output" | sed 's/.* - //') <(echo "$rule")
}

@test "a tree without an offence" {
	finds -
}

@test "a file of no room, an include that the room may not have, one that is not there" {
	header agent/hook.h AGENT_HOOK_H
	sed -i 's/GPL-2.0-or-later/MIT/' agent/hook.h
	header src/view/list.h VIEW_LIST_H '#include "src/base/none.h"'
	source src/base/up.c '#include "src/view/list.h"'
	run "$BATS_TEST_DIRNAME/../../tools/check-layers" --tree "$tree" 'only what it may'
	[ "$status" = 1 ]
	diff <(grep '^# ' <<<"$output") <(printf '# %s\n' 'agent/hook.h: in no room of doc/ARCHITECTURE.md' \
		'src/base/up.c: room src/base must not include "src/view/list.h"' \
		'src/view/list.h: "src/base/none.h" is not a path from the root')
}

@test "another header before the own one" {
	header src/base/other.h BASE_OTHER_H
	sed -i 's|#include "src/base/text.h"|#include "src/base/other.h"\n&|' src/base/text.c
	finds 'each file includes its own header first' 'src/base/text.c: its own header comes first'
}

@test "printing below the commands" {
	sed -i 's|return 1;|printf("1");\n&|' src/base/text.c
	source src/cmd/say.c 'int say(void)' '{' '	return printf("1");' '}'
	finds 'only src/cmd prints' 'src/base/text.c:7: only src/cmd prints'
}

@test "words of one processor: in code, comments and assembly; not in files that the table excepts, nor in longer words" {
	source src/base/regs.c '/* sp is rsp */' 'int f(struct r *r)' '{' '	int sp = r->rip;' '	int rsp_of, r81;' \
		'	__asm__ volatile("" : "+r"(k));' '	__asm__ volatile("pause");' '	return 0xcc + 0xccc;' '}'
	finds 'words of one processor stay in arch/' \
		"src/base/regs.c:3: 'rsp' belongs to one processor: arch/ has a general word for it, or gets one" \
		"src/base/regs.c:6: 'rip' belongs to one processor: arch/ has a general word for it, or gets one" \
		"src/base/regs.c:9: '__asm__ volatile(\"pause\"' belongs to one processor: arch/ has a general word for it, or gets one" \
		"src/base/regs.c:10: '0xcc' belongs to one processor: arch/ has a general word for it, or gets one"
	printf '%s\n' '| `src/base/text.c` | another table |' '' '| file | what it knows of x86 |' '|---|---|' '| `src/base/regs.c` | registers |' \
		>>doc/ARCHITECTURE.md
	finds -
	echo '| `src/base/text.c` | registers |' >>doc/ARCHITECTURE.md
	finds 'words of one processor stay in arch/' "doc/ARCHITECTURE.md: src/base/text.c names no processor's parts"
}

@test "a header that needs another one" {
	header src/base/size.h BASE_SIZE_H 'size_t size(void);'
	run "$BATS_TEST_DIRNAME/../../tools/check-layers" --tree "$tree" alone 'on its own'
	[ "$status" = 1 ]
	[[ $output == *$'\n# src/base/size.h: does not compile on its own\n'* ]]
}

@test "a header for a few files: another suffix, and another folder that includes it" {
	header src/base/text_parts.h BASE_TEXT_PARTS_H
	finds 'private headers have one suffix' 'src/base/text_parts.h: a header for a few files is called NAME_priv.h'
	rm src/base/text_parts.h
	header src/view/list_priv.h VIEW_LIST_PRIV_H
	source src/view/list.c '#include "src/view/list_priv.h"'
	source src/view/check/one.c '#include "src/view/list_priv.h"'
	finds -
	source src/cmd/list_all.c '#include "src/view/list_priv.h"'
	finds 'private headers are private' 'src/cmd/list_all.c: 1 private headers of other folders'
}

@test "headers that include one another" {
	header src/base/a.h BASE_A_H '#include "src/base/b.h"'
	header src/base/b.h BASE_B_H '#include "src/base/c.h"'
	header src/base/c.h BASE_C_H '#include "src/base/a.h"'
	finds 'no header includes itself' 'src/base/a.h: includes itself by way of src/base/b.h src/base/c.h'
}

@test "files that call one another, also by macros; not pointers, statics of one name, and functions that several files define" {
	header src/base/a.h BASE_A_H 'int a(int (*b)(void));' 'struct x;'
	header src/base/b.h BASE_B_H 'int b(void);' '#define B(n) (b() + (n))'
	source src/base/a.c '#include "src/base/a.h"' 'int c(void);' 'int a(int (*b)(void))' '{' '	return b() + c();' '}' 'int twice(void)' '{' '	return 1;' '}'
	source src/base/b.c '#include "src/base/b.h"' '#define A a(b)' 'static int c(void)' '{' '	return A;' '}' \
		'int b(void)' '{' '	return c() + twice();' '}'
	source src/base/c.c '#include "src/base/b.h"' 'int x(struct x *x)' '{' '	return x->a() + x->b(x);' '}' 'int twice(void)' '{' '	return 2;' '}'
	finds -
	source src/base/d.c '/* b() */' 'int c(void)' '{' '	return B(1);' '}'
	finds 'no file calls itself by way of others' \
		'src/base/a: 3 files in a circle of calls: c() of src/base/d, B() of src/base/b, a() of src/base/a'
	known 'calls src/base/a 3'
	finds -
}

@test "a licence that is missing or another room's" {
	sed -i 's/GPL-2.0-or-later/MIT/' src/base/text.h
	echo "text" >doc/page.md
	echo /doc/made >.gitignore	# what builds make has none
	echo '# SPDX-License-Identifier: GPL-2.0-or-later' >>.gitignore
	echo "text" >doc/made
	finds 'files name their licence' "doc/page.md: its first line does not say 'SPDX-License-Identifier: GPL-2.0-or-later'" \
		"src/base/text.h: its first line does not say 'SPDX-License-Identifier: GPL-2.0-or-later'"
}

@test "a file that does not say what it is" {
	sed -i 2d src/base/text.c
	finds 'files say what they are' 'src/base/text.c: after the licence, the first line is a comment that says what it is'
}

@test "wide lines: tabs are eight columns, a literal that stands alone may be wide" {
	local a90 a93
	a90=$(printf '%090d' 0) a93=$(printf '%093d' 0)
	source src/base/wide.c "/* $a90 100 */" "/*	$a90 */" "	\"$a90 this is not broken\"," "	f(\"$a93\");"
	finds 'lines are short' 'src/base/wide.c:4: 101 columns, more than 100' 'src/base/wide.c:6: 107 columns, more than 100'
}

@test "wide lines of programs that are tried out, whose comments may be wide, and of scripts" {
	local a158 a161
	mkdir -p tests/prog
	a158=$(printf '%0158d' 0) a161=$(printf '%0161d' 0)
	source tests/prog/some.c "/* $a161 */" "ff${a158:3}(); /* $a161 */" "ff${a158:2}(); /* $a161 */"
	finds 'lines of programs that are tried out are short' 'tests/prog/some.c:5: 161 columns, more than 160'
	rm tests/prog/some.c
	printf '%s\n' '# SPDX-License-Identifier: GPL-2.0-or-later' "# $a158" "$a161" >tests/cli/a.bats
	printf '%s\n' '#!/bin/sh' '# SPDX-License-Identifier: GPL-2.0-or-later' "# $a161" >tools/do
	printf '%s\n' '# SPDX-License-Identifier: GPL-2.0-or-later' "$a161" >tests/cli/text
	finds 'lines of scripts are short' 'tests/cli/a.bats: 1 lines of more than 160 columns' 'tools/do: 1 lines of more than 160 columns'
	known 'wide tests/cli/a.bats 1' 'wide tools/do 1'
	finds -
}

@test "a long function" {
	source src/base/long.c 'int short_one(void)' '{' "$(yes '	;' | head -80)" '}' '' 'static int long_one(int a,' '		    int b)' '{' \
		"$(yes '	;' | head -81)" '}'
	finds 'functions are short' 'src/base/long.c:89: long_one() has 81 lines, more than 80'
}

@test "a long file" {
	source src/base/lines.c "$(yes 'extern int i;' | head -598)"
	finds -
	echo >>src/base/lines.c
	finds 'files are short' 'src/base/lines.c: 601 lines, more than 600'
}

@test "two files of one name; the programs of the tests are on their own" {
	mkdir -p tests/prog
	source tests/prog/text.c
	source src/view/text.c
	finds 'file names are unique' 'src/view/text.c: src/base/text.c has the same name'
}

@test "files of one name for each processor" {
	mkdir -p arch/{one,two}
	echo '| `arch/` | | processors |' >>doc/ARCHITECTURE.md
	header arch/word.h ARCH_WORD_H
	header arch/one/word.h ARCH_ONE_WORD_H
	header arch/two/word.h ARCH_TWO_WORD_H
	sed -i 's/GPL-2.0-or-later/MIT/' arch/word.h arch/*/word.h
	finds -
	header src/base/word.h BASE_WORD_H
	finds 'file names are unique' 'src/base/word.h: arch/word.h has the same name'
}

@test "a source that no unit test names; names and exceptions that are not there any more" {
	echo '# SPDX-License-Identifier: GPL-2.0-or-later' | tee tests/unit/meson.build tests/cli/a.bats tools/check/untested >/dev/null
	source src/base/half.c
	source src/base/third.c
	source src/base/part.c
	printf '%s\n' "'part': files('../../src/base/part.c')," >>tests/unit/meson.build
	printf '%s\n' '/* SPDX-License-Identifier: GPL-2.0-or-later */' '/*' ' * Text. Also of src/base/half.c,' ' * third.c.' ' */' >tests/unit/test_text.c
	finds -
	source src/view/more.c '/* test_text.c */'
	finds 'each source has a unit test or says what else tests it' 'src/view/more.c: no unit test names it: "Also of src/view/more.c"'
	echo 'src/view/more.c tests/cli/a.bats' >>tools/check/untested
	finds -
	source src/view/later.c '/* not compiled yet */'
	printf '%s\n' '# SPDX-License-Identifier: GPL-2.0-or-later' "'more.c'" >src/view/meson.build
	finds -
	printf '%s\n' 'src/base/half.c tests/cli/a.bats' 'src/base/none.c tests/cli/a.bats' >>tools/check/untested
	sed -i 's|more.c tests/cli/a|more.c tests/cli/b|' tools/check/untested
	finds 'each source has a unit test or says what else tests it' 'tools/check/untested: src/base/half.c has a unit test' \
		'tools/check/untested: src/view/more.c has no test that is there' 'tools/check/untested: src/base/none.c is not there'
	echo '# SPDX-License-Identifier: GPL-2.0-or-later' >tools/check/untested
	rm src/base/third.c src/view/more.c
	sed -i 's|src/base/half|src/view/half|' tests/unit/test_text.c
	finds 'what unit tests say they test is there' 'tests/unit/test_text.c: tests src/view/half.c, which is not there' \
		'tests/unit/test_text.c: tests third.c, which is not there'
}

@test "a guard of another name, and none" {
	header src/view/list.h LIST_H
	source src/view/none.h
	finds 'header guards are named after the path' 'src/view/list.h: its guard is LIST_H, not VIEW_LIST_H' 'src/view/none.h: no header guard'
}

@test "a full folder: known excess may only fall, and the table follows" {
	local i
	for i in {1..27}; do source "src/view/a$i.c"; done
	finds 'folders are small' 'src/view: 27 .c files, more than 25'
	known 'folder src/view 26'
	finds 'folders are small' 'src/view: 27 .c files, more than 25; 26 are known'
	known 'folder src/view 27	# a reason'
	finds -
	rm src/view/a1.c
	finds 'folders are small' 'src/view: 26 .c files, more than 25, fewer than the 27 of tools/check/known: tools/check-layers --shrink'
	"$BATS_TEST_DIRNAME/../../tools/check-layers" --tree "$tree" --shrink
	[ "$(tail -1 tools/check/known)" = 'folder src/view 26	# a reason' ]
	finds -
	rm src/view/a2.c
	"$BATS_TEST_DIRNAME/../../tools/check-layers" --tree "$tree" --shrink
	[ "$(grep -c folder tools/check/known)" = 0 ]
	finds -
}

@test "variables that outlive a call, of each form; constants, functions and targets of options do not count" {
	source src/base/constant.c 'static const int one = 1;' 'static const char *const names[] = { "a", "b" };' 'static int f(int (*g)(void))' '{' \
		'	static const struct { int a; } table[] = { { 1 } };' '	return g() + table[0].a;' '}' \
		'static int (*const calls[])(int) = { f };' 'static inline int g(void) { return 1; }' 'static int h(void);'
	finds -
	source src/base/state.c 'static int a = 1, b[3], c;' 'static const char *d;' 'static int (*e)(void);' 'static struct { int i; } f;' \
		'static struct x *g[] = { 0 };' 'int h(void)' '{' '	static _Thread_local char i[9];' '	return 0;' '}'
	finds 'nothing outlives a call but targets of options' 'src/base/state.c: 8 mutable statics'
	source src/base/state.c 'int a = 1, b[3];' 'struct y { int i; } c = { 1 };' 'const char *d;' 'int (*e)(void);' 'extern int f;' 'struct z;' \
		'int g(int (*h)(void));' 'const int k = 1;' 'int g(int (*h)(void))' '{' '	int l = 1;' '	return h() + l;' '}' 'enum m { N };' \
		'char *const o = 0;' 'typedef int p;' 'struct q *r[sizeof(*a)];'
	finds 'nothing outlives a call but targets of options' 'src/base/state.c: 6 mutable statics'
	rm src/base/state.c
	source src/cmd/width.c 'int width, height;'
	header src/cmd/width.h CMD_WIDTH_H '#define OPT_WIDTH(...)                \' '	{ "width", OPT_UINT, &width, __VA_ARGS__ }' '#define OTHER &height' \
		'extern int width;'
	finds 'nothing outlives a call but targets of options' 'src/cmd/width.c: 1 mutable statics'
	rm src/cmd/width.[ch]
	source src/cmd/frob.c 'static struct job job;' 'static int count, other;' 'static const struct opt opts[] = {' \
		'	{ "count", &count, &job.x },' '	{ 0 }' '};'
	finds 'nothing outlives a call but targets of options' 'src/cmd/frob.c: 1 mutable statics'
	source src/cmd/frob.c 'static volatile sig_atomic_t asked;	/* by a signal */' 'static sig_atomic_t other;'
	source src/base/state.c 'static volatile sig_atomic_t asked;'
	finds 'nothing outlives a call but targets of options' 'src/base/state.c: 1 mutable statics' 'src/cmd/frob.c: 1 mutable statics'
}

@test "pages for developers: files, functions and names that are not there" {
	cat >doc/HOWTO.md <<-'END'
		<!-- SPDX-License-Identifier: GPL-2.0-or-later -->
		src/base/text.h, text.c, base/*.c, src/base/NAME.c, ARCHITECTURE.md and `text()`, text_NAME(), strlen(s).
		src/base/gone.h, gone.c, view/*.c, src/text.c, [page](none.md),
		`look_up()`, gone(), and `struct text_row`, text_row.
	END
	finds 'what pages for developers name is there' 'doc/HOWTO.md:3: src/base/gone.h is not there' 'doc/HOWTO.md:3: gone.c is not there' \
		'doc/HOWTO.md:3: view/*.c is not there' 'doc/HOWTO.md:3: src/text.c is not there' 'doc/HOWTO.md:3: none.md is not there' \
		'doc/HOWTO.md:4: nothing is called look_up' 'doc/HOWTO.md:4: nothing is called gone' 'doc/HOWTO.md:4: nothing is called text_row'
}

@test "waits, threads and signals below the commands: what never waits does not count, the table's do, and it has no others" {
	source src/base/wait.c '/* sleep(1) */' 'static int signal(int a);' 'int wait(void)' '{' '	poll(&p, 1, 0);' \
		'	waitid(P_PID, 1, &i, WEXITED |' '	       WNOHANG);' '	return o->poll(1) + x.signal(2);' '}'
	source src/cmd/sleep.c 'int nap(void)' '{' '	return poll(0, 0, -1);' '}'
	finds -
	source src/base/stop.c 'int nap(void)' '{' '	if (poll(&p, 1, 5))' '		return nanosleep(&t, 0);' '	else pause();' \
		'	waitpid(1, &s, 0);' '	waitid(P_PID, f(WEXITED), &i, WEXITED);' '	thread_start(&t, 0);' '}'
	finds 'below the commands only the loop waits' "src/base/stop.c:5: poll() below src/cmd; doc/ARCHITECTURE.md says what may wait" \
		"src/base/stop.c:6: nanosleep() below src/cmd; doc/ARCHITECTURE.md says what may wait" \
		"src/base/stop.c:7: pause() below src/cmd; doc/ARCHITECTURE.md says what may wait" \
		"src/base/stop.c:8: waitpid() below src/cmd; doc/ARCHITECTURE.md says what may wait" \
		"src/base/stop.c:9: waitid() below src/cmd; doc/ARCHITECTURE.md says what may wait" \
		"src/base/stop.c:10: thread_start() below src/cmd; doc/ARCHITECTURE.md says what may wait"
	printf '%s\n' '### What may wait, and why' '| `src/base/stop.c` | `poll` `nanosleep` `pause` `waitpid` | 5 s |' \
		'| `src/base/stop.c` | `waitid` `thread_start` `sleep` |  |' '| `src/base/stop.c` | `flock` | why |' '## More' \
		'| `src/base/stop.c` | `waitid` `thread_start` | why |' >>doc/ARCHITECTURE.md
	finds 'below the commands only the loop waits' "src/base/stop.c:9: waitid() below src/cmd; doc/ARCHITECTURE.md says what may wait" \
		"src/base/stop.c:10: thread_start() below src/cmd; doc/ARCHITECTURE.md says what may wait" \
		"doc/ARCHITECTURE.md: src/base/stop.c does not call flock()"
}

@test "words of the glossary's table: in messages and documents, across lines, in any case; not in names and comments" {
	cat >doc/GLOSSARY.md <<-'END'
		<!-- SPDX-License-Identifier: GPL-2.0-or-later -->
		| `understands` | no row of the table |
		## Not this, but this
		| not | but |
		|---|---|
		| `stands still` | is stopped |
	END
	source src/view/say.c '/* stands still */' 'const char *const a = "stands-still", *const b = "understands still more", *const c = "it stands "' '	"still";' \
		'const char *const d = "stands\nstill here";'
	printf '%s\n' '<!-- SPDX-License-Identifier: GPL-2.0-or-later -->' 'It' 'Stands' 'still.' >doc/page.md
	finds 'banned words are not used' 'src/view/say.c:4: not "stands still" but is stopped' \
		'src/view/say.c:6: not "stands still" but is stopped' 'doc/page.md:3: not "stands still" but is stopped'
}

@test "statements of a test that bash passes over" {
	printf '%s\n' '# SPDX-License-Identifier: GPL-2.0-or-later' '@test "a" {' '	! false' '	[ 1 ] && [ 2 ]' '	[ 1 ] || [ 2 ]' '	! true' '}' >tests/cli/a.bats
	finds 'no statement of a test is true whatever it finds' 'tests/cli/a.bats:3: bash continues when that is false' \
		'tests/cli/a.bats:4: bash continues when that is false'
}

@test "the kernel module: headers by their names, messages on one line, no unit test for what only a kernel runs" {
	mkdir kmod && echo '# SPDX-License-Identifier: GPL-2.0-or-later' >tests/unit/meson.build
	source tests/unit/test_text.c
	sed -i '$a | `kmod/` | | the module |' doc/ARCHITECTURE.md
	header kmod/module.h KMOD_MODULE_H '#include <linux/module.h>' 'struct pid;'
	header kmod/os.h KMOD_OS_H '#ifdef __KERNEL__' '#include <linux/slab.h>' '#else' '#include <stdlib.h>' '#endif'
	source kmod/main.c '#include "module.h"' '' 'void f(void)' '{' "	pr_info(s, \"$(printf 'x%.0s' {1..100})\\n\");" '}'
	source kmod/ring.c '#include "os.h"' 'int ring;'
	finds "each source has a unit test or says what else tests it" 'kmod/ring.c: no unit test names it: "Also of kmod/ring.c"'
	source tests/unit/test_ring.c
	finds -
	source kmod/log.c '#include "os.h"' '#include "none.h"'
	source tests/unit/test_log.c
	finds "each room includes only what it may" 'kmod/log.c: "none.h" is not a path from the root'
}
