# SPDX-License-Identifier: GPL-2.0-or-later
# Numbers that differ each time, as words.
$ cat >words <<'END'
> sed -E -e 's/\b([Pp]rocess|pid|attach --check|attach|report|snapshot|detach) [0-9]+/\1 N/g' -e 's/\(([0-9]+)\)/(N)/g' -e 's/\.[0-9]+\.pmm/.N.pmm/g' \
> -e 's/(less than |under )?[0-9.]+ (ms|us|s)\b/TIME/g' -e 's/in the first TIME/after TIME/' -e 's/^ *TIME  /TIME  /' -e 's/0x[0-9a-f]{6,}/ADDRESS/g' -e 's/[0-9.]+ [KM]iB in TIME/SIZE in TIME/' \
> -e "s#$BUILD#BUILD#g" -e "s#$PWD#HERE#g" -e "s#$SOURCE#SOURCE#g"
> END
# with OPTIONS -- VICTIM...: a victim that obeys, pmm attached to it; orders in $ORDERS, each `order answer'; its maps and code are as before in the end.
$ cat >with <<'END'
> #!/bin/bash
> options=()
> while [ "$1" != -- ]; do options+=("$1"); shift; done
> shift
> rm -f in out c.pmm watch.out watch.err; mkfifo in out
> program=$PROG/$1; shift
> "$program" "$@" <in >out 2>victim.err & pid=$!
> exec 7>in 8<out
> read -r -t 9 line <&8; [ "$line" = ready ] || echo "victim: '$line'"
> maps() { awk '$2 ~ /x/ { print $1, $2, $6 }' /proc/$pid/maps; }
> maps >before
> pmm attach -o c.pmm "${options[@]}" $pid >watch.out 2>watch.err 7>&- 8<&- & monitor=$!
> for ((i = 0; i < 500; i++)); do grep -qis attached watch.err watch.out && break; kill -0 $monitor 2>/dev/null || break; sleep 0.02; done
> while read -r order answer; do
>     [ "$order" ] || continue
>     [ "$order" != sleep ] || { sleep "$answer"; continue; }
>     echo "$order" >&7; read -r -t 9 line <&8
>     [ "$line" = "$answer" ] || echo "victim: '$line' instead of '$answer'"
> done <<<"${ORDERS-g done}"
> kill -"${SIGNAL:-TERM}" $monitor 2>/dev/null
> wait $monitor; echo "attach: $?"
> diff before <(maps) >/dev/null || echo "other code than before"
> exec 7>&-
> read -r -t 9 line <&8 && echo "$line"
> wait $pid; echo "victim: $?"
> END
> chmod +x with
$ ./with -- attach_victim; cat <watch.err
  attach: 0
  sum 41400
  victim: 42
  pmm: attached to 'attach_victim' (N): allocator glibc (/usr/lib/x86_64-linux-gnu/libc.so.6), 14 functions patched, all threads stopped for TIME, one for TIME before
  pmm: detached: process N is as it was, all threads stopped for TIME
  pmm: capture      c.pmm
$ pmm report --json --top 0 c.pmm | jq -c '(.totals | [.mode, .allocs, .frees, .live_bytes, .live_blocks, .untracked_frees, .failed]), (.process | [.comm, .end, .began])'
  ["exact",1434,1258,57784,176,0,0]
  ["attach_victim","running","attach"]
$ pmm report --json --top 0 c.pmm | jq -c '.sites[] | [([.frames[].function // "?"] | .[0]), .allocs, .frees, .allocated_bytes, .live_bytes, .live_blocks, .temporary]' | sort
  ["cached",300,236,76800,16384,64,0]
  ["growing",1,1,10,0,0,1]
  ["growing",21,21,21210,0,0,21]
  ["leak_a",100,0,4800,4800,100,0]
  ["leak_b",7,0,21000,21000,7,0]
  ["leak_c",3,0,15000,15000,3,0]
  ["leak_d",1,0,300,300,1,0]
  ["leak_d",1,0,300,300,1,0]
  ["passing",1000,1000,33000,0,0,1000]
$ SIGNAL=HUP ./with -- attach_victim; cat <watch.err
  attach: 0
  sum 41400
  victim: 42
  pmm: attached to 'attach_victim' (N): allocator glibc (/usr/lib/x86_64-linux-gnu/libc.so.6), 14 functions patched, all threads stopped for TIME, one for TIME before
  pmm: detached: process N is as it was, all threads stopped for TIME
  pmm: capture      c.pmm
$ ORDERS='f freed
> r moved
> g done
> c good' ./with --json -- attach_victim; cat <watch.err; jq -c '[.event, .schema] | select(.[0])' watch.out | sort -u
  attach: 0
  sum 41400
  victim: 42
  pmm: attached to 'attach_victim' (N): allocator glibc (/usr/lib/x86_64-linux-gnu/libc.so.6), 14 functions patched, all threads stopped for TIME, one for TIME before
  pmm: detached: process N is as it was, all threads stopped for TIME
  pmm: capture      c.pmm
  ["attached","pmm-attach/1.2"]
  ["detached","pmm-attach/1.2"]
  ["site","pmm-attach/1.2"]
$ ORDERS='l leaked
> sleep 0.8
> h held
> sleep 0.8
> u freed
> sleep 0.6' ./with --expire 300ms --interval 50ms -- attach_outlive; sed -E '/ again: /d; s/[0-9]+ blocks?, [0-9.]+ (KiB|B) outlived/all outlived/' watch.out | head -40
  attach: 1
  victim: 0
  TIME  #1 all outlived TIME, the oldest TIME old
      leak  attach_outlive.c:17
      main  attach_outlive.c:73
  TIME  #2 all outlived TIME, the oldest TIME old
      hold  attach_outlive.c:18
      main  attach_outlive.c:75
  TIME  #2 freed after all: 2 blocks, 1000 B that had outlived TIME; 2 blocks left; silent until it holds more than twice its most
  
  watched 'attach_outlive' (N) for TIME: 7 allocations of 4.88 KiB, 2 frees of 1000 B
  live: 5 blocks, 3.91 KiB of what was allocated since the attach
  expired: 5 blocks, 3.91 KiB of 2 sites have lived for TIME or more and are not freed; 1 of these sites freed such blocks before
  growth: too short a time to tell (it takes 16 samples and TIME)
  
  Sites
    #   expired  blocks  stack
    1  2.93 KiB       3  leak  attach_outlive.c:17
                           live: 3 blocks, 2.93 KiB, the oldest TIME old
                           3 allocations of 2.93 KiB, no frees
                           expired so far: 3 blocks, 2.93 KiB; freed after that: none
                           main  attach_outlive.c:73
    2    1000 B       2  hold  attach_outlive.c:18
                           live: 2 blocks, 1000 B, the oldest TIME old
                           4 allocations of 1.95 KiB, 2 frees of 1000 B
                           expired so far: 4 blocks, 1.95 KiB; freed after that: 2 blocks, 1000 B
                           freed: lived min TIME to TIME, mean TIME to TIME, max TIME to TIME
                           main  attach_outlive.c:75
$ ./with --sample=1 -- attach_victim; cat <watch.err
  attach: 0
  sum 41400
  victim: 42
  pmm: attached to 'attach_victim' (N): allocator glibc (/usr/lib/x86_64-linux-gnu/libc.so.6), 14 functions patched, all threads stopped for TIME, one for TIME before
  pmm: detached: process N is as it was, all threads stopped for TIME
  pmm: capture      c.pmm
$ ./with --frames=2 --min-size=100 -- attach_victim; pmm report --json c.pmm | jq -c '.totals | [.allocs, .live_blocks]'
  attach: 0
  sum 41400
  victim: 42
  [332,76]
$ ./with -q -- attach_cxx; cat <watch.err
  attach: 0
  victim: 43
$ ORDERS='k forked' ./with -- attach_victim; cat <watch.err
  attach: 0
  sum 0
  victim: 42
  pmm: attached to 'attach_victim' (N): allocator glibc (/usr/lib/x86_64-linux-gnu/libc.so.6), 14 functions patched, all threads stopped for TIME, one for TIME before
  pmm: detached: process N is as it was, all threads stopped for TIME
  pmm: capture      c.pmm
$ ORDERS='x ready' ./with -- attach_victim; cat <watch.err
  attach: 0
  other code than before
  sum 0
  victim: 42
  pmm: attached to 'attach_victim' (N): allocator glibc (/usr/lib/x86_64-linux-gnu/libc.so.6), 14 functions patched, all threads stopped for TIME, one for TIME before
  pmm: the process runs another program now, which is not watched
  pmm: capture      c.pmm
$ for program in attach_static attach_static_pie attach_omit attach_own_new; do echo $program; ./with -- $program; cat <watch.err; pmm report --json c.pmm | jq -c '.totals | [.allocs, .frees, .live_bytes]'; done
  attach_static
  attach: 0
  sum 41400
  victim: 42
  pmm: attached to 'attach_static' (N): allocator glibc (BUILD/tests/prog/attach_static), 11 functions patched, all threads stopped for TIME, one for TIME before
  pmm: detached: process N is as it was, all threads stopped for TIME
  pmm: capture      c.pmm
  [1434,1258,57784]
  attach_static_pie
  attach: 0
  sum 41400
  victim: 42
  pmm: attached to 'attach_static_p' (N): allocator glibc (BUILD/tests/prog/attach_static_pie), 11 functions patched, all threads stopped for TIME, one for TIME before
  pmm: detached: process N is as it was, all threads stopped for TIME
  pmm: capture      c.pmm
  [1434,1258,57784]
  attach_omit
  attach: 0
  sum 41400
  victim: 42
  pmm: attached to 'attach_omit' (N): allocator glibc (/usr/lib/x86_64-linux-gnu/libc.so.6), 14 functions patched, all threads stopped for TIME, one for TIME before
  pmm: detached: process N is as it was, all threads stopped for TIME
  pmm: capture      c.pmm
  [1434,1258,57784]
  attach_own_new
  attach: 0
  victim: 43
  pmm: attached to 'attach_own_new' (N): allocator glibc (/usr/lib/x86_64-linux-gnu/libc.so.6), 24 functions patched, all threads stopped for TIME, one for TIME before
  pmm: detached: process N is as it was, all threads stopped for TIME
  pmm: capture      c.pmm
  [54,11,5768]
$ ./with --duration 200ms -- attach_victim; cat <watch.err
  attach: 0
  sum 41400
  victim: 42
  pmm: attached to 'attach_victim' (N): allocator glibc (/usr/lib/x86_64-linux-gnu/libc.so.6), 14 functions patched, all threads stopped for TIME, one for TIME before
  pmm: detached: process N is as it was, all threads stopped for TIME
  pmm: capture      c.pmm
$ pmm attach 999999999
  pmm: no process N
[3]
$ pmm attach
  pmm: 'pmm attach' needs an argument
  pmm: hint: usage: pmm attach [options] PID
[2]
$ pmm attach 0
  pmm: '0' is not a process number
  pmm: hint: 'ps -e' lists all processes with their numbers
[2]
$ ./with --alloc "pool_get=malloc(arg0)" -- attach_pool; cat <watch.err
  attach: 0
  victim: 44
  pmm: attached to 'attach_pool' (N): allocator glibc (/usr/lib/x86_64-linux-gnu/libc.so.6), 15 functions patched, all threads stopped for TIME, one for TIME before
  pmm: detached: process N is as it was, all threads stopped for TIME
  pmm: capture      c.pmm
$ pmm attach --alloc "x=y(" $$
  pmm: bad allocator 'x=y(': it must act like malloc, calloc, realloc or free
  pmm: hint: write NAME=malloc(arg0), =calloc(arg0,arg1), =realloc(arg0,arg1) or =free(arg0); NAME is a symbol, MODULE:SYMBOL or MODULE:0xADDRESS
[2]
$ pmm attach --alloc "nowhere=malloc(arg0)" $$
  pmm: process N has no function 'nowhere': looked in '/usr/bin/dash' (no symbol table, no debug file), '/usr/lib/x86_64-linux-gnu/libc.so.6' (no symbol table, but a debug file), in the same way in 1 others, and in the exported symbols of 4 objects
  pmm: hint: C++ names are given as in 'nm', without --demangle; a function without a symbol as MODULE:0xADDRESS
[3]
$ pmm attach --alloc "=malloc(arg0)" $$
  pmm: bad allocator '=malloc(arg0)': a name is missing before '='
  pmm: hint: write NAME=malloc(arg0), =calloc(arg0,arg1), =realloc(arg0,arg1) or =free(arg0); NAME is a symbol, MODULE:SYMBOL or MODULE:0xADDRESS
[2]
$ pmm attach --alloc "a:b=malloc(arg9)" $$
  pmm: bad allocator 'a:b=malloc(arg9)': expected malloc(arg0), where argument 0 is the size, or malloc(N)
  pmm: hint: write NAME=malloc(arg0), =calloc(arg0,arg1), =realloc(arg0,arg1) or =free(arg0); NAME is a symbol, MODULE:SYMBOL or MODULE:0xADDRESS
[2]
$ pmm attach --expire x 1
  pmm: --expire: 'x' is not a duration
  pmm: hint: a number of seconds, or with ns, us, ms, s, m, h or d: 10ms, 5s, 2m
[2]
$ PMM_INJECT=/nonexistent pmm attach $$
  pmm: cannot find the agent '/nonexistent': No such file or directory
  pmm: hint: PMM_INJECT names it; unset it to use the one that came with pmm
[3]
$ sleep 20 & sleep 0.2; pmm attach --duration 300ms -o s.pmm $!; kill $!; ls s.pmm
  pmm: attached to 'sleep' (N): allocator glibc (/usr/lib/x86_64-linux-gnu/libc.so.6), 14 functions patched, all threads stopped for TIME, one for TIME before
  no allocations were seen in TIME: the program did not call its allocator, or uses one that pmm does not know (see --alloc)
  pmm: detached: process N is as it was, all threads stopped for TIME
  pmm: capture      s.pmm
  s.pmm
$ sleep 20 & sleep 0.2; pmm detach $!; kill $!
  pmm: process N has nothing in it that 'pmm attach' left
$ sleep 20 & sleep 0.2; pmm report $!; pmm snapshot $!; pmm check $!; kill $!
  pmm: process N is not tracked by pmm
  pmm: hint: start it with 'pmm run -- COMMAND', or track it from now on with 'pmm attach N'
  pmm: process N is not tracked by pmm
  pmm: hint: start it with 'pmm run -- COMMAND', or track it from now on with 'pmm attach N'
  pmm: process N is not checked: pmm does not track it
  pmm: hint: start the program with 'pmm check -- COMMAND'; 'pmm attach --check N' guards a sample of a running one's blocks
$ sleep 20 & sleep 0.2; pmm leaks $!; kill $!
  pmm: the blocks of process N are not known: pmm does not track it
  pmm: hint: 'pmm attach N' first, then all is known that is allocated from then on; or start it with 'pmm run'
# a monitor that is killed leaves its agent; detach and the next attach take it out
$ cat >killed <<'END'
> #!/bin/bash
> rm -f in out c.pmm watch.out watch.err; mkfifo in out
> $PROG/attach_victim <in >out & pid=$!
> exec 7>in 8<out
> read -r line <&8
> awk '$2 ~ /x/ { print $1, $2, $6 }' /proc/$pid/maps >before
> pmm attach -o c.pmm $pid >watch.out 2>watch.err 7>&- 8<&- & monitor=$!
> for ((i = 0; i < 500; i++)); do grep -qis attached watch.err watch.out && break; sleep 0.02; done
> kill -9 $monitor; wait $monitor 2>/dev/null
> echo g >&7; read -r line <&8; echo "$line"
> if [ "$1" = detach ]; then pmm detach $pid; pmm detach $pid; else pmm attach -d 200ms -o c.pmm $pid; fi 2>&1
> awk '$2 ~ /x/ { print $1, $2, $6 }' /proc/$pid/maps | diff before - >/dev/null || echo "other code than before"
> echo g >&7; read -r line <&8; echo "$line"
> exec 7>&-; read -r line <&8; echo "$line"; wait $pid; echo $?
> END
> chmod +x killed; ./killed detach
  done
  pmm: process N is as it was before pmm (stopped for TIME)
  pmm: process N has nothing in it that 'pmm attach' left
  done
  sum 82800
  42
$ ./killed attach
  done
  pmm: attached to 'attach_victim' (N): allocator glibc (/usr/lib/x86_64-linux-gnu/libc.so.6), 14 functions patched, all threads stopped for TIME, one for TIME before
  no allocations were seen in TIME: the program did not call its allocator, or uses one that pmm does not know (see --alloc)
  pmm: detached: process N is as it was, all threads stopped for TIME
  pmm: capture      c.pmm
  done
  sum 82800
  42
# looks at processes that run
$ cat >running <<'END'
> #!/bin/bash
> rm -f in out r.pmm; mkfifo in out
> how=$1; shift
> pmm run -q -o r.pmm $how -- $PROG/attach_victim <in >out & monitor=$!
> exec 7>in 8<out
> read -r line <&8; echo g >&7; read -r line <&8
> pid=$(pgrep -P $monitor attach_victim)
> for command in "$@"; do $command $pid; done 2>&1
> exec 7>&-; wait $monitor; echo $?
> END
> chmod +x running; ./running "" "pmm report --json" | jq -c '.totals? | [.allocs, .frees, .live_blocks]' 2>/dev/null
  [1464,1258,206]
$ ./running "" "pmm snapshot -o t.pmm" "pmm snapshot -o t.pmm"; pmm report --json t.pmm | jq -c '(.totals | [.allocs, .frees, .live_blocks]), .allocator.source'
  pmm: 76.9 KiB live in 206 blocks of process N, written to 't.pmm'
  pmm: 76.9 KiB live in 206 blocks of process N, written to 't.pmm'
  42
  [1464,1258,206]
  "memory"
# what is now of a process was then of a capture, which may be read next week
$ ./running "" "pmm report" | grep -oE '(process|live) .*' | sed 's/attach_victim.*, //' | head -2; pmm report t.pmm | grep -oE '(process|live) .*' | sed 's/attach_victim.*, //' | head -2
  process  still running
  live     76.9 KiB in 206 blocks now
  process  running when captured
  live     76.9 KiB in 206 blocks when captured
$ ./running "" "pmm leaks --holds nowhere"
  pmm: process N has no live block of a call site 'nowhere'
  pmm: hint: name a function or FILE:LINE as in 'pmm leaks --show=all', a site number of its JSON, or an address 0x...
  42
$ ./running "" "pmm leaks --show all"
  BUILD/tests/prog/attach_victim
    process          attach_victim, pid N, ran TIME, still running
    searched         SIZE in TIME, in a copy; the program was stopped for TIME
    definitely lost  0 bytes in 0 blocks
    indirectly lost  0 bytes in 0 blocks
    possibly lost    0 bytes in 0 blocks
    still reachable  78,784 bytes in 206 blocks, 7 sites
  
  Caches, pools, too young to tell: probably no leaks
       bytes  blocks  allocated in
    20.5 KiB      30  main  attach_victim.c:105
                        still reachable: not watched for long enough to say
                        whether it grows
                        at least one hangs on variable old
    20.5 KiB       7  leak_b  attach_victim.c:38
                        still reachable: not watched for long enough to say
                        whether it grows
                        at least one hangs on variable kept
                        go  attach_victim.c:73
                        main  attach_victim.c:109
    16.0 KiB      64  cached  attach_victim.c:42
                        still reachable: not watched for long enough to say
                        whether it grows
                        at least one hangs on variable cache
                        go  attach_victim.c:83
                        main  attach_victim.c:109
    14.6 KiB       3  leak_c  attach_victim.c:39
                        still reachable: not watched for long enough to say
                        whether it grows
                        at least one hangs on variable kept
                        go  attach_victim.c:75
                        main  attach_victim.c:109
    4.69 KiB     100  leak_a  attach_victim.c:37
                        still reachable: not watched for long enough to say
                        whether it grows
                        at least one hangs on variable kept
                        go  attach_victim.c:71
                        main  attach_victim.c:109
       300 B       1  leak_d  attach_victim.c:40
                        still reachable: not watched for long enough to say
                        whether it grows
                        hangs on variable kept
                        go  attach_victim.c:77
                        main  attach_victim.c:109
       300 B       1  leak_d  attach_victim.c:40
                        still reachable: not watched for long enough to say
                        whether it grows
                        hangs on variable kept
                        go  attach_victim.c:77
                        main  attach_victim.c:109
  42
$ ./running "" "pmm leaks --every 100ms --count 3"
  BUILD/tests/prog/attach_victim
    process          attach_victim, pid N, ran TIME, still running
    searched         SIZE in TIME, in a copy; the program was stopped for TIME
    definitely lost  0 bytes in 0 blocks
    indirectly lost  0 bytes in 0 blocks
    possibly lost    0 bytes in 0 blocks
    still reachable  78,784 bytes in 206 blocks, 7 sites
  
    no leaks were found
    76.9 KiB in 206 blocks at 7 sites: still reachable, probably no leaks (--show=all lists them)
  42
$ ./running "" "pmm check"
  pmm: process N is recorded, but not checked
  pmm: hint: start the program with 'pmm check -- COMMAND'; 'pmm leaks' and 'pmm report' look at this one
  42
$ ./running "" "pmm detach"
  pmm: process N has nothing in it that 'pmm attach' left
  pmm: hint: it records all the same: its agent came with the program, by 'pmm run', 'pmm check' or pmm.h, and stays until the program ends
  42
$ ./running "" "pmm attach -d 100ms"
  pmm: process N was started by 'pmm run', which records what it allocates
  pmm: hint: 'pmm report N' shows that, 'pmm snapshot N' keeps it
  42
