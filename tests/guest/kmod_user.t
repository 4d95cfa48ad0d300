# SPDX-License-Identifier: GPL-2.0-or-later
# /kmod/pmm.ko from outside: 'pmm kmod'; pmm.h that logs to the ring in its static form and its full one; pmmd.

# begin PROGRAM: the module is loaded by pmm, and the victim has logged. Sets PID; its input is descriptor 5.
begin() {
	load
	rm -f in
	mkfifo in
	: >out	# of the one before, which could be read before the next one begins
	"$1" <in >out &
	PID=$!
	exec 5>in
	await grep -q status out
}

# load: the module, by pmm.
load() {
	command -v pmm >/dev/null || skip "there is no pmm"
	mkdir -p "/lib/modules/$(uname -r)/extra"
	ln -sf /kmod/pmm.ko "/lib/modules/$(uname -r)/extra/pmm.ko"
	pmm kmod load interval_ms=100
}

# totals WANTED: of report.json.
totals() { is totals "$(jq -c '.totals | [.mode, .allocs, .frees, .live_blocks, .live_bytes]' report.json)" "$1"; }

# lines WANTED: the same, "FILE:LINE BYTES" each; warnings: their codes with counts.
lines() {
	is lines "$(jq -r '[.lines[] | select(.value_bytes > 0) | "\(.file | split("/")[-1]):\(.line) \(.value_bytes)"] | sort | join("; ")' report.json)" "$1"
}
warnings() { is warnings "$(jq -c '[.warnings[] | [.code, .count]]' report.json)" "$1"; }

# lines_at FILE:LINE...: "FILE:LINE BLOCKS BYTES" of report.json for these lines.
lines_at() {
	jq -r '[.lines[] | "\(.file // "" | split("/")[-1]):\(.line)" as $at | select($ARGS.positional | index($at)) | "\($at) \(.value_count) \(.value_bytes)"] |
		sort | join("; ")' report.json --args "$@"
}

# each_form FUNCTION: with the static form, and with the full one.
each_form() {
	"$1" /prog/kmod_shim
	pmm kmod unload
	"$1" /prog/kmod_full
}

test_load()
{
	command -v pmm >/dev/null || skip "there is no pmm"
	! pmm kmod status 2>err || fail "there is a module"
	has err 'the kernel module pmm is not loaded'
	mkdir -p "/lib/modules/$(uname -r)/extra"
	ln -sf /kmod/pmm.ko "/lib/modules/$(uname -r)/extra/pmm.ko"
	! pmm kmod load interval_ms=1 2>err || fail "a parameter out of range is taken"
	has err 'refuses .* with interval_ms=1'
	chmod 666 /kmod/pmm.ko
	status=0
	pmm kmod load 2>err || status=$?
	is "status" "$status" 3
	has err "others than root may write '/lib/modules/.*/pmm.ko'"
	chmod 644 /kmod/pmm.ko
	chmod 777 /kmod
	! pmm kmod load 2>err || fail "a file in a folder that everyone may write is taken"
	has err "others than root may write '/kmod'"
	chmod 755 /kmod
	pmm kmod load interval_ms=100
	is "interval" "$(pmm kmod status --json | jq .module.interval_ns)" 100000000
	is "doctor" "$(pmm doctor --json | jq -r '.checks[] | select(.check == "kmod").state')" ok
	! pmm kmod load 2>err || fail "it is loaded twice"
	has err 'loaded already'
	exec 4</dev/pmm
	! pmm kmod unload 2>err || fail "it is unloaded while the device is open"
	has err 'in use by .*\('
	exec 4<&-
	pmm kmod unload
	[ ! -e /dev/pmm ] || fail "it is there"
}

reports()
{
	begin "$1"
	is "what it says" "$(cat out)" "status 1"
	pmm kmod report --json "$PID" >report.json
	totals '["log",13,5,8,1750]'
	warnings '[]'
	lines 'kmod_shim.c:32 600; kmod_shim.c:34 150; kmod_shim.c:35 1000'
	is "module of the caller" "$(jq -r --arg name "$1" '[.modules[].path] | unique | map(select(endswith($name))) | length' report.json)" 1
	pmm kmod report -o file.pmm "$PID"
	pmm report --json file.pmm >report.json
	totals '["log",13,5,8,1750]'
	echo >&5
	await grep -q freed out
	pmm kmod report --json "$PID" >report.json
	totals '["log",13,11,2,1150]'
	pmm kmod report "$PID" >text
	has text "kernel module's log"
	is "status" "$(pmm kmod status --json | jq -c '.processes[] | [.pid, .state, .live_blocks, .live_bytes, .ring, .by_itself]')" \
		"[$PID,\"running\",2,1150,true,true]"
	kill "$PID"
	status=0
	wait "$PID" || status=$?
}

test_report() { each_form reports; }

# The log of a dead process stays, and says how it ended; the child's is its own.
ends()
{
	begin "$1"
	sleep 1000 5>&- &
	other=$!
	pmm kmod watch --json "$PID" "$other" >events 5>&- &
	watch=$!
	await grep -q started events	# the one that was not monitored before
	echo >&5
	await grep -q freed out
	echo >&5
	status=0
	wait "$PID" || status=$?
	is "exit status" "$status" 3
	kill "$other"
	wait "$watch"
	is "their ends" "$(jq -c 'select(.event == "ended") | [.pid, .exit_status, .signal]' events)" "[$PID,3,null]
[$other,null,15]"
	pmm kmod report --json "$PID" >report.json
	totals '["log",13,11,2,1150]'
	is "end" "$(jq -c '.process | [.end, .exit_status]' report.json)" '["exited",3]'
	is "processes" "$(pmm kmod status --json | jq -c '[.processes[] | [.state, .live_blocks, .live_bytes]] | sort')" \
		'[["exited",1,64],["exited",2,1150],["killed",0,0]]'
	pmm kmod stop "$PID"
	! pmm kmod report "$PID" 2>err || fail "its log is there"
	has err "does not monitor process $PID"
}

test_end() { each_form ends; }

# What a newcomer may try first: a process that logs nothing, one that is not monitored.
test_nothing_logged()
{
	load
	pmm kmod start 1
	pmm kmod report 1 >text 2>err
	has err 'process 1 has logged nothing: only programs compiled with pmm.h and PMM_KMOD do'
	has text 'mode .*kernel module'
	! grep 'Memory around' text || fail "the module knows nothing of the allocator"
	! pmm kmod report 99999 2>err || fail "there is a log of it"
	has err 'does not monitor process 99999$'
	has err "'pmm kmod start 99999' begins to"
}

# What the full form's ledger has is not in doubt when it logs as well.
test_ledger()
{
	begin /prog/kmod_full
	pmm report --json "$PID" >report.json
	totals '["exact",13,5,8,1750]'
	lines 'kmod_shim.c:32 600; kmod_shim.c:34 150; kmod_shim.c:35 1000'
	kill "$PID"
}

# Compiled without PMM_KMOD: what is requested while it is switched on.
test_switch()
{
	begin /prog/kmod_switch_full
	is "what it says" "$(cat out)" "status 0 1 0 1"
	pmm kmod report --json "$PID" >report.json
	totals '["log",4,2,2,4000]'
	warnings '[["foreign_frees",1]]'
	lines 'kmod_switch_full.c:26 800; kmod_switch_full.c:32 3200'
	pmm report --json "$PID" >report.json
	is "its own tables" "$(jq -c '.totals | [.allocs, .frees]' report.json)" '[6,3]'	# all but those of pmm_disable()
	exec 5>&-
	wait "$PID"
}

test_cxx()
{
	begin /prog/kmod_cxx_full
	pmm kmod report --json "$PID" >report.json
	totals '["log",5,2,3,488]'
	warnings '[]'
	lines 'kmod_cxx_full.cc:22 400; pmm_new.cc:14 88'
	exec 5>&-
	wait "$PID"
}

# at FILE TEXT: "FILE:LINE" of pmmd's only line with that text.
at() { echo "$1:$(grep -n -F "$2" "/pmmd/$1" | cut -d : -f 1)"; }

ctl() { "$PMMD" ctl d/pmmd.sock "$@"; }

# The daemon with --kmod: its log has what commands say. Begun without the module, it is told by a command when there is one.
daemon()
{
	PMMD=$1
	load
	mkdir d
	"$PMMD" --kmod "$PWD/d" 2>err
	is "what its starter says" "$(cat err)" ""
	PID=$(cat d/pmmd.pid)
	has d/pmmd.log 'Z requests are logged to the kernel module$'
	is alloc "$(ctl alloc 10 1000)" '10 values of 1000 bytes in the cache'
	is leak "$(ctl leak 3 50)" '3 replies of 50 bytes lost'
	is free "$(ctl free 4)" '4 values dropped, 6 left'
	value=$(at cache.c 'entry->value = malloc(bytes);') reply=$(at bugs.c 'char *reply = malloc(bytes);')
	pmm kmod report --json "$PID" >report.json
	warnings '[]'
	is lines "$(lines_at "$reply" "$value")" "$reply 3 150; $value 6 6000"
	is off "$(ctl kmod 0)" 'requests are no more logged to the kernel module'
	is alloc "$(ctl alloc 5 700)" '5 values of 700 bytes in the cache'
	is free "$(ctl free 2)" '2 values dropped, 9 left'
	is on "$(ctl kmod 1)" 'requests are now logged to the kernel module'
	is alloc "$(ctl alloc 1 30)" '1 values of 30 bytes in the cache'
	pmm kmod report --json "$PID" >report.json
	is lines "$(lines_at "$reply" "$value")" "$reply 3 150; $value 5 4030"
	has d/pmmd.log 'client [0-9]+: kmod 0'
	ctl quit
	pmm kmod stop "$PID"
	pmm kmod unload
	rm -r d
}

test_pmmd()
{
	command -v pmm >/dev/null || skip "there is no pmm"
	daemon /pmmd/pmmd-static
	daemon /pmmd/pmmd-full
}

test_pmmd_before_the_module()
{
	command -v pmm >/dev/null || skip "there is no pmm"
	PMMD=/pmmd/pmmd-full
	mkdir d
	"$PMMD" --kmod "$PWD/d" 2>err
	is "what its starter says" "$(cat err)" "pmmd: nothing is logged to the kernel module: it is not loaded, which 'pmm kmod load' does as root"
	PID=$(cat d/pmmd.pid)
	load
	is on "$(ctl kmod 1)" 'requests are now logged to the kernel module'
	is alloc "$(ctl alloc 10 1000)" '10 values of 1000 bytes in the cache'
	pmm kmod report --json "$PID" >report.json
	value=$(at cache.c 'entry->value = malloc(bytes);')
	is lines "$(lines_at "$value")" "$value 10 10000"
	ctl quit
}
