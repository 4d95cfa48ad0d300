#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# How many bytes of the program's stack the agent takes (tests/prog/stack_use.c), more than the program takes without it, and programs whose
# stacks are small (tests/prog/small_stacks.c). The bounds are those of gcc 12 and 10 % more.

load attach

# What the agent may take of the caller's stack, at the first call from a place or at any call.
RUN=1720
CHECK=1930
ATTACH=1930
FULL=2040
EXEC=2040		# executing a program looked for along PATH
USUAL=180		# malloc, free, calloc from where it was called before
USUAL_CHECK=780

setup() {
	export PATH=/usr/bin:/bin
	"$PROG/stack_use" >"$T/alone"
	[ "$(tail -1 "$T/alone")" = done ]
	[ "$(grep -c . "$T/alone")" -gt 60 ]
}

# within_bounds FILE USUAL ANY [EXEC]: none of its lines says more than that beyond the same in alone; both have all lines, and some say more.
within_bounds() {
	awk -v usual="$2" -v any="$3" -v exec="${4:-$3}" '
		NR == FNR { alone[$1] = $2; nr++; next }
		!($1 in alone) { print "alone there is no " $1; bad = 1 }
		{
			bound = $1 ~ /^(malloc|free|calloc)_again$/ ? usual : $1 ~ /exec|spawn/ ? exec : any
			more = $2 - alone[$1]
			seen++
			some += more > 500
			if (more > bound) {
				print $1 ": " more " bytes more than alone, must not be more than " bound
				bad = 1
			}
		}
		END {
			if (seen != nr || some < 3)
				print seen " of " nr " lines, " some + 0 " of them with 500 bytes more"
			exit bad || seen != nr || some < 3
		}' "$T/alone" "$1"
}

# bounds USUAL ANY CMD...: of stack_use under it.
bounds() {
	within "${@:3}" "$PROG/stack_use" >"$T/used" 2>"$T/err" </dev/null || { cat "$T/err"; return 1; }
	within_bounds "$T/used" "$1" "$2" "$EXEC"
}

# bounds_attached [OPTION...]: of stack_use with pmm attached before its first call.
bounds_attached() {
	need_attach
	start stack_use wait
	watch "$@"
	echo g >&7
	while read -r -t "$LIMIT" line <&8; do echo "$line"; done >"$T/used"
	finish 0
	within_bounds "$T/used" "$USUAL" "$ATTACH"
}

@test "pmm run" {
	bounds "$USUAL" "$RUN" "$PMM" run -q -o "$T/%p.pmm" --
	bounds "$USUAL" "$RUN" "$PMM" run -q --leaks -o "$T/%p.pmm" --
	bounds 32 "$RUN" "$PMM" run -q --sample -o "$T/%p.pmm" --
}

@test "pmm check" {
	for level in light guard sampled; do bounds "$USUAL_CHECK" "$CHECK" "$PMM" check --level "$level" --; done
}

@test "pmm attach" {
	bounds_attached
	bounds_attached --sample
	bounds_attached --check
}

@test "pmm.h's full form" {
	[ -x "$PROG/stack_use_full" ] || skip "stack_use_full is not built"
	within "$PROG/stack_use_full" 2>"$T/err" >"$T/used"
	within_bounds "$T/used" 600 "$FULL"
	within "$PMM" run -q -o "$T/%p.pmm" -- "$PROG/stack_use_full" 2>"$T/err" >"$T/used"
	within_bounds "$T/used" 820 "$FULL"
}

@test "threads, coroutines and handlers with small stacks run as they do alone" {
	said=$(printf 'ready\ndone\ndone')
	[ "$(printf 'gg' | within "$PROG/small_stacks")" = "$said" ]
	for options in "run -q -o $T/a.pmm" "run -q --sample -o $T/b.pmm" "check --level light" check "check --level sampled"; do
		# shellcheck disable=SC2086
		printf 'gg' | within "$PMM" $options -- "$PROG/small_stacks" >"$T/said" 2>"$T/err" || { cat "$T/err"; return 1; }
		[ "$(cat "$T/said")" = "$said" ]
	done
}

@test "large environments on small stacks" {
	said=$(printf 'execve 0\nposix_spawn 0')
	for nr in 10 230 260 1200 1300 1400 1500 1600 4000; do
		[ "$(within "$PROG/exec_small" "$nr")" = "$said" ]
		within "$PMM" run -o "$T/%p.pmm" -- "$PROG/exec_small" "$nr" >"$T/said" 2>"$T/err" </dev/null
		[ "$(cat "$T/said")" = "$said" ] || { echo "with $nr variables: $(cat "$T/said")"; return 1; }
		untracked=$(grep -c "2 programs were not tracked" "$T/err") || true
		[ "$nr" -gt 300 ] || [ "$untracked" -eq 0 ]
		[ "$nr" -lt 1400 ] || [ "$untracked" -eq 1 ]
	done
}

@test "pmm attached to a program with small stacks" {
	need_attach
	for option in "" --sample --check; do
		start small_stacks
		tell g done
		# shellcheck disable=SC2086
		watch $option
		tell gg done
		hear done
		unwatch
		clean
		tell g done
		finish 0
	done
}
