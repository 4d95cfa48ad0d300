# SPDX-License-Identifier: GPL-2.0-or-later
# /kmod/pmm.ko from outside: 'pmm kmod', and pmm.h that logs to the ring (/prog/kmod_shim).

# begin: the module is loaded by pmm, and the victim has logged. Sets PID; its input is descriptor 5.
begin() {
	command -v pmm >/dev/null || skip "there is no pmm"
	mkdir -p "/lib/modules/$(uname -r)/extra"
	ln -sf /kmod/pmm.ko "/lib/modules/$(uname -r)/extra/pmm.ko"
	pmm kmod load interval_ms=100
	mkfifo in
	/prog/kmod_shim <in >out &
	PID=$!
	exec 5>in
	await grep -q status out
	is "what it says" "$(cat out)" "status 1"
}

# totals WANTED: of report.json.
totals() { is totals "$(jq -c '.totals | [.mode, .allocs, .frees, .live_blocks, .live_bytes]' report.json)" "$1"; }

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

test_report()
{
	begin
	pmm kmod report --json "$PID" >report.json
	totals '["log",13,5,8,1750]'
	is "warnings" "$(jq -c .warnings report.json)" "[]"
	is "lines" "$(jq -c '[.lines[] | select(.value_bytes > 0) | [(.file | split("/")[-1]), .line, .value_bytes]] | sort' report.json)" \
		'[["kmod_shim.c",24,600],["kmod_shim.c",26,150],["kmod_shim.c",27,1000]]'
	is "module of the caller" "$(jq -r '[.modules[].path] | unique | map(select(endswith("/kmod_shim"))) | length' report.json)" 1
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
}

# The log of a dead process stays, and says how it ended; the child's is its own.
test_end()
{
	begin
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
