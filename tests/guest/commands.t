# SPDX-License-Identifier: GPL-2.0-or-later
# What pmm does without help of the kernel's: it tracks, attaches and searches on kernels other than the one it was built on.
# An emulated processor can be too slow for the time that pmm gives a thread of another process; pmm says so then, and is tried again.

# doctor_says KEY: what it found of a check, as "STATE FOUND".
doctor_says() { jq -r --arg c "$1" '.checks[] | select(.check == $c) | "\(.state) \(.found)"' doctor.json; }

not_too_slow() { ! grep -q -E 'it takes too long|the machine is too busy|tracking stopped early .pmm has ended or was stopped for too long' "$1"; }

doctor() {
	pmm doctor --json >doctor.json || { cat doctor.json; fail "pmm run does not work here"; }
	not_too_slow doctor.json
}

test_doctor()
{
	await doctor
	cat doctor.json
	is kernel "$(doctor_says kernel)" "ok Linux $(uname -r) on x86_64"
	is "checks that say no" "$(jq -r '[.checks[] | select(.state == "no").check] | join(" ")' doctor.json)" ""
	if since 5.14; then
		is populate "$(jq -r '.checks[] | select(.check == "populate").state' doctor.json)" ok
	else
		is populate "$(doctor_says populate)" "note the ledger's memory is allocated page by page: the kernel has no MADV_POPULATE_WRITE"
	fi
}

# run_well ARGUMENTS...: pmm run -q, its input in the file orders, again as long as it was too slow for the program.
run_well() {
	while :; do
		pmm run -q "$@" <orders 2>err || { cat err; fail "pmm run ended"; }
		! not_too_slow err || break
	done
}

test_run()
{
	: >orders
	run_well -o c.pmm -- /prog/threads
	check threads c.pmm
}

# start CMD...: a victim that takes orders on descriptor 7 and answers on 8.
start() {
	rm -f in out
	mkfifo in out
	"$@" <in >out &
	PID=$!
	exec 7>in 8<out
	hear ready
}

hear() {
	read -r line <&8 || line=nothing
	is "the victim's line" "$line" "$1"
}

tell() {
	echo "$1" >&7
	hear "$2"
}

# attached: pmm is attached to PID, its capture will be in c.pmm. Sets MONITOR.
attached() {
	while :; do
		pmm attach -o c.pmm "$@" "$PID" >attach.out 2>attach.err &
		MONITOR=$!
		while [ -d "/proc/$MONITOR" ] && ! grep -q attached attach.err; do sleep 0.1; done
		! grep -q attached attach.err || return 0
		! not_too_slow attach.err || { cat attach.err; fail "pmm attach ended"; }
	done
}

detached() {
	kill -INT "$MONITOR"
	status=0
	wait "$MONITOR" || status=$?
	cat attach.err attach.out
	between "the status of pmm attach" "$status" 0 1
	is "the agent in the process" "$(grep -c -E 'memfd:pmm|libpmm' "/proc/$PID/maps")" 0
}

test_attach()
{
	while :; do
		start /prog/attach_victim
		attached
		tell g done
		detached
		tell g done
		exec 7>&-
		hear "sum 82800"
		status=0
		wait "$PID" || status=$?
		is "the victim's status" "$status" 42
		! not_too_slow attach.out || break
	done
	check attach_victim c.pmm
}

# certain CLASS KEY: a sum over the blocks that are certainly lost.
certain() { jq --arg c "$1" "[.certain[] | select(.class == \$c).$2] | add" leaks.json; }

# What the first comment of leak_shapes.c has, added up.
shapes() {
	cat leaks.err
	is "definitely lost blocks" "$(certain definite blocks)" 10
	is "their bytes" "$(certain definite bytes)" 584
	is "indirectly lost blocks" "$(certain indirect blocks)" 26
	is "their bytes" "$(certain indirect bytes)" 1320
}

search() { pmm leaks --json --top 0 --show definite,indirect --fail-on none "$@" >leaks.json 2>leaks.err; }

test_leaks_at_exit()
{
	echo g >orders
	run_well --leaks -o c.pmm -- /prog/leak_shapes
	search c.pmm
	shapes
}

test_leaks_of_a_running_process()
{
	while :; do
		start /prog/leak_shapes
		attached
		tell g done
		await search "$PID"
		detached
		is tracer "$(awk '$1 == "TracerPid:" { print $2 }' "/proc/$PID/status")" 0
		exec 7>&-
		wait "$PID"
		! not_too_slow attach.out || break
	done
	shapes
}

# as: a process's limits on address space.
as() { awk '/^Max address space/ { print $4, $5 }' "/proc/$1/limits"; }

# With the right to raise it: the program has what it has natively, also after exec, and sees that.
test_a_hard_limit_on_address_space_at_start()
{
	(ulimit -v 130000 && /prog/limited) >native
	cat native
	has native 'small 0, large 12'
	for how in "" "again 2"; do
		(ulimit -v 130000 && pmm run -o c.pmm -- /prog/limited $how) >out 2>err || { cat err; fail "pmm run ended"; }
		is "what it says $how" "$(cat out)" "$(cat native)"
		is "warnings $how" "$(grep -c WARNING err)" 0
		is "warnings of the report" "$(pmm report --json c.pmm | jq '.warnings | length')" 0
	done
}

test_a_hard_limit_on_address_space_of_a_running_process()
{
	start sh -c 'ulimit -v 200000 && exec /prog/attach_victim'
	is "the limits" "$(as "$PID")" "204800000 204800000"
	attached
	as "$PID" | awk '{ exit !($1 == $2 && $1 > 204800000) }' || fail "the limits are $(as "$PID")"
	is "warnings" "$(grep -c WARNING attach.err)" 0
	detached
	is "the limits" "$(as "$PID")" "204800000 204800000"
	kill "$PID"
}
