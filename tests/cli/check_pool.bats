#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The pool of guarded blocks in programs that limit or confine themselves, by both mechanisms: they are unharmed, and guarded as far as that
# goes (agent/guard/guard.h).

load lib

setup() { cd "$T" || return 1; }

# checked NAME [ARG...]: a victim checked with OPTIONS; its output is in checked.out, figures of its blocks in $FIGURES.
OPTIONS=()
checked() {
	within "$PMM" check --json --report found.json --budget all "${OPTIONS[@]}" -- "$PROG/$1" "${@:2}" >checked.out
	jq -e '.findings == []' found.json
	FIGURES=$(jq -r '.check | "\(.guarded_blocks) \(.unguarded_refused)"' found.json)
}

# both FUNCTION ARG...: with guard markers, as far as the kernel has them, and with mprotect().
both() {
	OPTIONS=()
	"$@"
	OPTIONS=(--no-madvise-guard)
	"$@"
}

# unharmed HOW GUARDED REFUSED
unharmed() {
	checked confined "$1"
	[ "$(cat checked.out)" = unharmed ]
	[ "$FIGURES" = "$2 $3" ]
}

@test "nothing in the way" { both unharmed none 2000 0; }
@test "RLIMIT_AS" { both unharmed as 2000 0; }
@test "all descriptors closed" { both unharmed fds 2000 0; }
@test "mlockall" { need_root; both unharmed mlock 2000 0; }
@test "seccomp filter: no block is guarded" { both unharmed seccomp 0 2000; }

@test "RLIMIT_DATA: some are, none is lost" {
	data() {
		checked confined data
		[ "$(cat checked.out)" = unharmed ]
		[ "$(jq '.check | .guarded_blocks + .canaried_blocks' found.json)" -eq 2000 ]
	}
	both data
}

@test "RLIMIT_DATA: what the agent needs is not taken from the program, which sees its limit as natively" {
	little() {
		within "$PMM" check --json --report found.json "$@" -- "$PROG/confined" little >checked.out
		[ "$(cat checked.out)" = unharmed ]
		json_is '[[],2000]' '[.findings, (.check | .guarded_blocks + .canaried_blocks)]' <found.json
	}
	little --level=light
	little --level=guard
	little --level=guard --no-madvise-guard
	cat >limits <<-'EOF'
		ulimit -Sd; ulimit -Hd; ulimit -Sd 3000; ulimit -Sd; sh -c 'ulimit -Sd; ulimit -Hd; ls / >/dev/null && echo listed'
	EOF
	(ulimit -Sd 4000 && bash limits) >native.out
	(ulimit -Sd 4000 && "$PMM" check -- bash limits) >checked.out
	diff native.out checked.out
	(ulimit -Sd 4000 && "$PMM" run -q -o x.pmm -- bash limits) >checked.out
	diff native.out checked.out
}

# The limit means what it means natively, also after so many exec.
limited() {
	within "$PROG/limited" "$@" >native.out
	checked limited "$@"
	diff native.out checked.out
}

@test "an address space limit in the middle" { both limited soft 0; }
@test "an address space limit, then exec" { both limited soft 1; }
@test "a hard address space limit, then exec" { both limited hard 1; }
@test "an address space limit, then exec three times" { both limited soft 3; }

@test "few mappings: those the program may have are left to it" {
	OPTIONS=(--no-madvise-guard --max-mappings 400)
	checked many 1000 16
	[ "$FIGURES" = "150 1850" ]
}
