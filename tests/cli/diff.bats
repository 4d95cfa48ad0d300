#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm diff: two builds of one program, at other addresses, with moved lines and renamed functions, are the same program; what changed is found to the byte.

load lib

# build NAME FLAG...: $T/NAME/app from standard input, and its capture $T/NAME.pmm.
build() {
	local name=$1
	shift
	need gcc
	mkdir -p "$T/$name"
	cat >"$T/$name/app.c"
	gcc -O1 "$@" -o "$T/$name/app" "$T/$name/app.c"
	run_build "$name"
}

run_build() { within "$PMM" run -q -o "$T/$1.pmm" -- "$T/$1/app"; }

# 100 blocks of 100 bytes in copy(), inlined into parse(); 100 of 50 in parse(); one of 5000 in main().
source_of() {
	cat <<-'END'
		#include <stdlib.h>
		#include <string.h>
		static inline __attribute__((always_inline)) char *copy(size_t n)
		{
			char *p = malloc(n);
			memset(p, 1, n);
			return p;
		}
		__attribute__((noinline)) char *parse(int n)
		{
			char *p = copy(100 * n);
			char *volatile q = malloc(50);
			*q = *p;
			return p;
		}
		char *volatile keep[1000];
		int main(void)
		{
			for (int i = 0; i < 100; i++)
				keep[i] = parse(1);
			keep[200] = malloc(5000);
			return 0;
		}
	END
}

# diff_of A B [OPTION...]: as JSON in $T/json.
diff_of() { within "$PMM" diff --json "${@:3}" "$T/$1.pmm" "$T/$2.pmm" >"$T/json"; }
rows() { jq -c "[.$1[] | [.function, .before_bytes, .after_bytes, .status]]" "$T/json"; }
is() { [ "$(rows "$1")" = "$2" ] || { rows "$1"; echo "must be $2"; return 1; }; }

@test "another run of the same build is the same" {
	source_of | build a -g
	cp -r "$T/a" "$T/b"
	run_build b
	diff_of a b
	jq -e '[.lines, .functions, .modules, .stacks, .warnings] == [[], [], [], [], []]' "$T/json"
	jq -e '.totals[0] | .what == "live" and .before_bytes == 20000 and .after_bytes == 20000 and .change_bytes == 0' "$T/json"
}

@test "another build: lines have moved, an inlined function has another name, one line is new" {
	source_of | build a -g
	{ printf '/*\n\n*/\n'; source_of | sed -e 's/copy/duplicate/g' -e 's/i < 100/i < 110/' \
		-e 's/^keep.200/\nkeep[300] = malloc(700);\n&/'; } | build b -g -fno-pie -no-pie
	diff_of a b
	is lines '[["duplicate",10000,11000,"grew"],["main",0,700,"new"],["parse",5000,5500,"grew"]]'
	is functions '[["duplicate",10000,11000,"grew"],["main",5000,5700,"grew"],["parse",5000,5500,"grew"]]'
	is stacks '[["duplicate",10000,11000,"grew"],["main",0,700,"new"],["parse",5000,5500,"grew"]]'
	is modules '[[null,20000,22200,"grew"]]'
	jq -e '.warnings == [] and (.lines[1].line == 25) and (.stacks[0].frames | map(.function) | .[:3] == ["duplicate", "parse", "main"])' "$T/json"
	# the other way round it is the negative
	diff_of b a
	is lines '[["copy",11000,10000,"shrank"],["main",700,0,"gone"],["parse",5500,5000,"shrank"]]'
}

@test "stripped: the same build ID, names of the other file" {
	source_of | build a -g
	mkdir "$T/b"
	strip -o "$T/b/app" "$T/a/app"
	run_build b
	diff_of a b
	jq -e '.lines == [] and .stacks == [] and .warnings == []' "$T/json"
	diff_of b a
	jq -e '.lines == [] and .stacks == [] and .warnings == []' "$T/json"
}

@test "stripped, another build: what cannot be matched is reported first, with its bytes" {
	source_of | build a -g
	source_of | sed 's/5000/5001/' | build b -s
	within "$PMM" diff "$T/a.pmm" "$T/b.pmm" >"$T/text"
	sed -n 4p "$T/text" | grep -E "^  !  19\.5 KiB of '$T/b\.pmm' could not be matched: functions have no names"
	diff_of a b
	jq -e '[.warnings[] | [.side, .code, .count]] == [["after", "unmatched", 20001]]' "$T/json"
	jq -e '([.lines[].change_bytes] | add) == 1 and ([.stacks[].change_bytes] | add) == 1' "$T/json"
}

# more BYTES: the running process has so many live bytes more than the snapshot, all in one line.
more() { "$PMM" diff --json "$T/first.pmm" "$PID" | jq -e "[.lines[].change_bytes] == [$1]"; }

@test "a capture and a running process" {
	{
		printf '%s\n' '#include <stdio.h>' '#include <unistd.h>'
		source_of | sed -e '/^return 0;/,$d'
		printf '%s\n' 'char c; printf("%d\n", getpid()); fflush(stdout);' 'read(0, &c, 1);' 'keep[300] = malloc(123);' \
			'read(0, &c, 1); }'
	} >"$T/live.c"
	need gcc
	gcc -g -O1 -w -o "$T/app" "$T/live.c"
	mkfifo "$T/in"
	"$PMM" run -q -o "$T/end.pmm" -- "$T/app" <"$T/in" >"$T/pid" 3>&- &
	JOB=$!
	exec 9>"$T/in"
	await -p "$JOB" test -s "$T/pid"
	PID=$(cat "$T/pid")
	"$PMM" snapshot -o "$T/first.pmm" "$PID"
	echo -n x >&9
	await -p "$JOB" more 123
	within "$PMM" diff --json "$PID" "$T/first.pmm" | jq -e '[.lines[].change_bytes] == [-123]'
	# what is live now is not what will be live at its end: neither kept nor exceeded
	printf '%s\n' '[app]' 'live_at_end = 1' >"$T/budget"
	local status=0
	within "$PMM" budget -f "$T/budget" --json "$PID" >"$T/judged" || status=$?
	[ "$status" -eq 3 ]
	jq -e '.budgets | map([.state, .value, .why]) == [["not_measured", null, "the program had not ended when it was captured"]]' "$T/judged"
	echo -n x >&9
	exec 9>&-
	wait "$JOB"
}

@test "sums of all lists are the difference of the totals" {
	local key
	printf '%s\n' 'generate sites=400 blocks=3000 seed=5' >"$T/1"
	printf '%s\n' 'generate sites=350 blocks=2500 seed=6' 'totals peak=900M' >"$T/2"
	"$MKCAPTURE" "$T/1" "$T/a.pmm"
	"$MKCAPTURE" "$T/2" "$T/b.pmm"
	for key in live peak allocated; do
		diff_of a b --sort "$key"
		jq -e --arg key "$key" '(.totals[] | select(.what == $key).change_bytes) as $all
			| [.lines, .functions, .modules, .stacks | [.[].change_bytes] | add] | length == 4 and all(. == $all)' "$T/json" ||
			{ echo "$key"; jq '.totals' "$T/json"; false; }
	done
}

@test "--fail-on: exit code 1, with the lines behind it" {
	local status=0
	source_of | build a -g
	source_of | sed 's/5000/90000/' | build b -g
	within "$PMM" diff --fail-on 'grow>5%,50K' "$T/a.pmm" "$T/b.pmm" >"$T/text" || status=$?
	[ "$status" -eq 1 ]
	grep -A2 "^Grew by more than --fail-on allows" "$T/text" | grep -E '^    main \(app\.c:21\): live grew by 83\.0 KiB'
	within "$PMM" diff --fail-on 'grow>5%,90K' --fail-on 'line.live>85000' "$T/a.pmm" "$T/b.pmm" >"$T/text"
	! grep -q "Grew by more" "$T/text"
}

@test "a page: mode 0600, and no capture is written over" {
	capture_of a 'site main allocs=3 size=100'
	capture_of b 'site main allocs=4 size=100'
	cd "$T"
	if ! "$PMM" diff --format html -o page.html a.pmm b.pmm 2>said && grep -q 'was built without pages' said; then
		skip "esbuild or libjs-dygraphs was missing when pmm was built"
	fi
	[ "$(cat said)" = "pmm: written to 'page.html'" ]
	[ "$(stat -c '%a' page.html)" = 600 ]
	refused_with 2 "'b.pmm' is the capture itself" "$PMM" diff --format html -o b.pmm a.pmm b.pmm
	refused_with 2 "'a.pmm' is the capture itself" "$PMM" diff --format html -o a.pmm a.pmm b.pmm
	[ "$(sed -n 2p said)" = "pmm: hint: name another file with -o" ]
}
