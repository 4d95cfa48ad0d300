# SPDX-License-Identifier: GPL-2.0-or-later
# pmm trace reclaim, compaction, migrate, thp: what would disturb the machine, against what /proc/vmstat counts meanwhile.

# before, gained KEY...: what the counters have gained since, together.
before() { cat /proc/vmstat >vmstat.before; }
after() { cat /proc/vmstat >vmstat.after; }
gained() {
	awk -v keys=" $* " 'NR == FNR { if (index(keys, " " $1 " ")) n -= $2; next } index(keys, " " $1 " ") { n += $2 } END { print n + 0 }' \
		vmstat.before vmstat.after
}

# A victim of which `ready` is said when it has done its work. Sets PID.
start() {
	rm -f in out
	mkfifo in out
	"$@" <in >out &
	PID=$!
	exec 7>in 8<out
	read -r line <&8 || line=nothing
	is "the victim's line" "$line" ready
}

stop() {
	exec 7>&-
	wait "$PID"
}

test_compaction()
{
	start /prog/trace_fragments 134217728
	tracing compaction,migrate
	before
	sh -c 'echo 1 >/proc/sys/vm/compact_memory; echo "$$" >writer'
	after
	traced
	stop
	cat vmstat.before | grep compact; grep compact vmstat.after
	result .
	writer=$(cat writer)
	is "pages moved for compaction" "$(events migrate '.reason == "compaction"' 'map(.moved_bytes) | add / 4096')" "$(gained pgmigrate_success)"
	between "pages moved" "$(gained pgmigrate_success)" 1000 40000
}
test_x()
{
	start /prog/trace_fragments 134217728
	tracing compaction,migrate
	before
	sh -c 'echo 1 >/proc/sys/vm/compact_memory; echo "$$" >writer'
	after
	traced
	stop
	cat writer
	grep '"compaction"' trace.json | head -5
	tail -n 1 trace.json | jq -c .compaction_waits,.compaction,.migration
	tracing reclaim
	before
	swap_on 512
	start /prog/trace_pressure 480 0
	after
	stop
	traced
	swap_off
	diff vmstat.before vmstat.after | grep -E "allocstall|pgsteal|pgscan|slabs|pageoutrun|kswapd|oom|wat"
	tail -n 1 trace.json | jq -c 'del(.memory_cgroups)' | cut -c1-6000
	grep -v life trace.json | jq -r .event | sort | uniq -c
	grep direct_reclaim trace.json | head -2
	echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
	tracing thp
	before
	/prog/trace_huge 8 4 2
	after
	traced
	diff vmstat.before vmstat.after | grep thp
	tail -n 1 trace.json | jq -c . | cut -c1-4000
	fail x
}
