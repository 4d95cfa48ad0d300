# SPDX-License-Identifier: GPL-2.0-or-later
# Numbers that differ each time, as words.
$ cat >words <<'END'
> sed -E -e 's/\b([Pp]rocess|pid|attach|report|snapshot|--check|detach) [0-9]+/\1 N/g' -e 's/\(([0-9]+)\)/(N)/g' -e 's/\.[0-9]+\.pmm/.N.pmm/g' \
> -e 's/(less than |under )?[0-9.]+ (ms|us|s)\b/TIME/g' -e 's/in the first TIME/after TIME/' -e 's/^ *TIME  /TIME  /' -e 's/0x[0-9a-f]{6,}/ADDRESS/g' -e 's/[0-9.]+ [KM]iB in TIME/SIZE in TIME/' \
> -e "s#$BUILD#BUILD#g" -e "s#$PWD#HERE#g" -e "s#$SOURCE#SOURCE#g"
> END
$ for r in demo tree leaks check; do mkcapture $SOURCE/tests/cli/golden/$r.recipe $r.pmm; done
$ pmm check check.pmm
  demo --serve
    blocks   1,020 of 1,021 blocks had canaries, 1,000 of them guard pages too;
             canaries only: 11 for their cost (--budget), 4 above the limit
             (--max-guarded), 3 for their size, 2 as the kernel refused; not
             checked: 1 where they could not be tracked
    process  demo, pid N, ran TIME, exited with status 0
    failed   5 requests made to fail
    found    7 errors: 1 heap overrun, 1 use after free, 1 double free, 1 bad
             free, 1 mismatched free, 1 overlapping copy, 1 uninitialised memory;
             met 9 times; 7 canary scans of all live blocks
  
    !  6 errors more met, but not listed: there is room for 1,024 different
       ones a process
  
    use after free in parse+0x10
      read of 4 bytes, 8 bytes into a block of 24 bytes that was freed
      thread 4243 (worker), TIME after the start; 3 times, the last TIME
      later:
        parse+0x10
        main+0x10
      the block at 0x1000 was allocated with malloc by the main thread, TIME
      before:
        make+0x10
        main+0x10
      it was freed by the same thread, TIME before:
        drop+0x10
        main+0x10
  
    heap overrun, of a block from make+0x10
      write right behind the end of a block of 24 bytes, between the canary scans
      TIME and TIME after the start
      the block at 0x2000 was allocated with new[], TIME before:
        make+0x10
        main+0x10
  
    bad free in drop+0x10
      free of memory on a stack
      TIME after the start:
        drop+0x10
        main+0x10
  
    overlapping copy in parse+0x10
      memcpy of 50 bytes from 0x1000 to 0x100a: the ranges overlap
      TIME after the start:
        parse+0x10
        main+0x10
      the block at 0x1000 was allocated, TIME before:
        make+0x10
        main+0x10
  
    double free in drop+0x10
      delete[] of a block of 24 bytes that was freed already
      TIME after the start:
        drop+0x10
        main+0x10
      the block was allocated before the fork, by process N
  
    uninitialised memory in parse+0x10
      words
      thread 4243 by Valgrind's count (worker), TIME after the start:
        parse+0x10
        main+0x10
  
    mismatched free in drop+0x10
      sized delete of a block of 24 bytes that came from new, said to be 20
      TIME after the start:
        drop+0x10
        main+0x10
[1]
$ pmm check --json --show-bytes check.pmm
  {
    "schema": "pmm-check/1.1",
    "process": {
      "pid": 4242,
      "ppid": 17,
      "comm": "demo",
      "exe": "/usr/bin/demo",
      "cmdline": "demo --serve",
      "host": "box",
      "start_realtime_ns": 1700000000000000000,
      "taken_realtime_ns": 1700000060000000000,
      "run_ns": 60000000000,
      "end": "exited",
      "exit_status": 0,
      "began": "exec"
    },
    "check": {
      "level": "guard",
      "mechanism": "madvise",
      "findings": 7,
      "findings_lost": 6,
      "left_open": 0,
      "guarded_blocks": 1000,
      "guarded_most_blocks": 900,
      "canaried_blocks": 20,
      "unchecked_blocks": 1,
      "unguarded_for_limit": 4,
      "unguarded_for_budget": 11,
      "unguarded_for_size": 3,
      "unguarded_refused": 2,
      "failed_on_purpose": 5,
      "sweeps": 7,
      "other_processes": 0,
      "blocks": 1021,
      "unchecked_before_start": 0,
      "unkept_for_size": 0,
      "unkept_in_use": 0,
      "coverage": "1,020 of 1,021 blocks had canaries, 1,000 of them guard pages too; canaries only: 11 for their cost (--budget), 4 above the limit (--max-guarded), 3 for their size, 2 as the kernel refused; not checked: 1 where they could not be tracked"
    },
    "warnings": [],
    "findings": [
      {
        "type": "use-after-free",
        "by": "access",
        "access": "read",
        "what": "read of 4 bytes, 8 bytes into a block of 24 bytes that was freed",
        "count": 3,
        "first_ns": 3000000000,
        "last_ns": 5000000000,
        "tid": 4243,
        "thread_name": "worker",
        "address": "0x1008",
        "size_bytes": 4,
        "block_address": "0x1000",
        "block_bytes": 24,
        "kind": "malloc",
        "guarded": true,
        "allocated_tid": 4242,
        "allocated_thread_name": "main",
        "allocated_ns": 1000000000,
        "freed_tid": 4243,
        "freed_thread_name": "worker",
        "freed_ns": 2000000000,
        "frames": [
          {"stack": "error", "module": "parse", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"},
          {"stack": "error", "module": "main", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"},
          {"stack": "allocated", "module": "make", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"},
          {"stack": "allocated", "module": "main", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"},
          {"stack": "freed", "module": "drop", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"},
          {"stack": "freed", "module": "main", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"}
        ]
      },
      {
        "type": "overrun",
        "by": "sweep",
        "access": "write",
        "what": "write right behind the end of a block of 24 bytes, between the canary scans TIME and TIME after the start",
        "count": 1,
        "first_ns": 9000000000,
        "last_ns": 9000000000,
        "well_at_ns": 8000000000,
        "address": "0x2018",
        "block_address": "0x2000",
        "block_bytes": 24,
        "kind": "new[]",
        "guarded": false,
        "contents": "01020304",
        "allocated_ns": 1000000000,
        "frames": [
          {"stack": "allocated", "module": "make", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"},
          {"stack": "allocated", "module": "main", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"}
        ]
      },
      {
        "type": "bad-free",
        "by": "release",
        "place": "stack",
        "what": "free of memory on a stack",
        "count": 1,
        "first_ns": 1000000000,
        "last_ns": 1000000000,
        "address": "ADDRESS",
        "release": "free",
        "frames": [
          {"stack": "error", "module": "drop", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"},
          {"stack": "error", "module": "main", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"}
        ]
      },
      {
        "type": "overlap",
        "by": "function",
        "what": "memcpy of 50 bytes from 0x1000 to 0x100a: the ranges overlap",
        "count": 1,
        "first_ns": 1000000000,
        "last_ns": 1000000000,
        "address": "0x100a",
        "size_bytes": 50,
        "block_address": "0x1000",
        "block_bytes": 100,
        "function_called": "memcpy",
        "other": "0x1000",
        "guarded": false,
        "allocated_ns": 0,
        "frames": [
          {"stack": "error", "module": "parse", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"},
          {"stack": "error", "module": "main", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"},
          {"stack": "allocated", "module": "make", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"},
          {"stack": "allocated", "module": "main", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"}
        ]
      },
      {
        "type": "double-free",
        "by": "release",
        "what": "delete[] of a block of 24 bytes that was freed already",
        "count": 1,
        "first_ns": 1000000000,
        "last_ns": 1000000000,
        "address": "0x1000",
        "block_address": "0x1000",
        "block_bytes": 24,
        "release": "delete[]",
        "guarded": false,
        "parent_pid": 17,
        "frames": [
          {"stack": "error", "module": "drop", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"},
          {"stack": "error", "module": "main", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"}
        ]
      },
      {
        "type": "uninitialised",
        "by": "valgrind",
        "what": "words",
        "count": 1,
        "first_ns": 1000000000,
        "last_ns": 1000000000,
        "thread_name": "worker",
        "valgrind_thread": 4243,
        "frames": [
          {"stack": "error", "module": "parse", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"},
          {"stack": "error", "module": "main", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"}
        ]
      },
      {
        "type": "mismatched-free",
        "by": "function",
        "what": "sized delete of a block of 24 bytes that came from new, said to be 20",
        "count": 1,
        "first_ns": 1000000000,
        "last_ns": 1000000000,
        "address": "0x1000",
        "block_address": "0x1000",
        "block_bytes": 24,
        "kind": "new",
        "release": "delete with a size",
        "said": 20,
        "guarded": false,
        "frames": [
          {"stack": "error", "module": "drop", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"},
          {"stack": "error", "module": "main", "module_offset": "0x10", "pc": "ADDRESS", "inlined": false, "role": "program"}
        ]
      }
    ],
    "left_out": {
      "findings": 0
    }
  }
[1]
$ pmm check --show-bytes --top 2 check.pmm
  demo --serve
    blocks   1,020 of 1,021 blocks had canaries, 1,000 of them guard pages too;
             canaries only: 11 for their cost (--budget), 4 above the limit
             (--max-guarded), 3 for their size, 2 as the kernel refused; not
             checked: 1 where they could not be tracked
    process  demo, pid N, ran TIME, exited with status 0
    failed   5 requests made to fail
    found    7 errors: 1 heap overrun, 1 use after free, 1 double free, 1 bad
             free, 1 mismatched free, 1 overlapping copy, 1 uninitialised memory;
             met 9 times; 7 canary scans of all live blocks
  
    !  6 errors more met, but not listed: there is room for 1,024 different
       ones a process
  
    use after free in parse+0x10
      read of 4 bytes, 8 bytes into a block of 24 bytes that was freed
      thread 4243 (worker), TIME after the start; 3 times, the last TIME
      later:
        parse+0x10
        main+0x10
      the block at 0x1000 was allocated with malloc by the main thread, TIME
      before:
        make+0x10
        main+0x10
      it was freed by the same thread, TIME before:
        drop+0x10
        main+0x10
  
    heap overrun, of a block from make+0x10
      write right behind the end of a block of 24 bytes, between the canary scans
      TIME and TIME after the start
      now at 0x2018: 01020304
      the block at 0x2000 was allocated with new[], TIME before:
        make+0x10
        main+0x10
    5 more (--top 0 shows all)
[1]
$ pmm check --top 1 --no-symbols check.pmm
  demo --serve
    blocks   1,020 of 1,021 blocks had canaries, 1,000 of them guard pages too;
             canaries only: 11 for their cost (--budget), 4 above the limit
             (--max-guarded), 3 for their size, 2 as the kernel refused; not
             checked: 1 where they could not be tracked
    process  demo, pid N, ran TIME, exited with status 0
    failed   5 requests made to fail
    found    7 errors: 1 heap overrun, 1 use after free, 1 double free, 1 bad
             free, 1 mismatched free, 1 overlapping copy, 1 uninitialised memory;
             met 9 times; 7 canary scans of all live blocks
  
    !  6 errors more met, but not listed: there is room for 1,024 different
       ones a process
  
    use after free in parse+0x10
      read of 4 bytes, 8 bytes into a block of 24 bytes that was freed
      thread 4243 (worker), TIME after the start; 3 times, the last TIME
      later:
        parse+0x10
        main+0x10
      the block at 0x1000 was allocated with malloc by the main thread, TIME
      before:
        make+0x10
        main+0x10
      it was freed by the same thread, TIME before:
        drop+0x10
        main+0x10
    6 more (--top 0 shows all)
[1]
$ pmm check --error-exitcode 7 check.pmm >/dev/null
[7]
$ pmm check --report out check.pmm; head -2 out
  demo --serve
    blocks   1,020 of 1,021 blocks had canaries, 1,000 of them guard pages too;
$ pmm check --report /dev/full check.pmm
  pmm: cannot write the report: No space left on device
  pmm: hint: --report FILE writes it elsewhere
[3]
$ pmm check check.pmm >/dev/full
  pmm: cannot write the report: No space left on device
  pmm: hint: --report FILE writes it elsewhere
[3]
$ pmm check demo.pmm
  pmm: the process of this capture was not checked for heap errors
  pmm: hint: run the program with 'pmm check -- COMMAND'
[3]
$ printf 'check light canaried=5\nfinding type=double-free by=release release=free block=1000 block-size=24 site=main>a\nfinding type=double-free by=release release=free block=2000 block-size=24 site=main>b\nfinding type=overrun by=access block=3000 block-size=24 address=3018 size=1 site=main>c\n' | mkcapture /dev/stdin three.pmm; pmm check three.pmm | grep found
    found    3 errors: 1 heap overrun, 2 double frees
$ printf 'check light canaried=5\n' | mkcapture /dev/stdin clean.pmm; pmm check clean.pmm
  fake
    blocks   all 5 blocks had canaries
    process  fake, pid N, ran TIME, exited with status 0
    found    no heap errors
  
    !  its live blocks were not scanned at its end: it was killed, or how
       it ended was not seen
$ pmm check --json clean.pmm
  {
    "schema": "pmm-check/1.1",
    "process": {
      "pid": 4242,
      "ppid": 1,
      "comm": "fake",
      "exe": "",
      "cmdline": "",
      "host": "",
      "start_realtime_ns": 1700000000000000000,
      "taken_realtime_ns": 1700000010000000000,
      "run_ns": 10000000000,
      "end": "exited",
      "exit_status": 0,
      "began": "exec"
    },
    "check": {
      "level": "light",
      "mechanism": "madvise",
      "findings": 0,
      "findings_lost": 0,
      "left_open": 0,
      "guarded_blocks": 0,
      "guarded_most_blocks": 0,
      "canaried_blocks": 5,
      "unchecked_blocks": 0,
      "unguarded_for_limit": 0,
      "unguarded_for_budget": 0,
      "unguarded_for_size": 0,
      "unguarded_refused": 0,
      "failed_on_purpose": 0,
      "sweeps": 0,
      "other_processes": 0,
      "blocks": 5,
      "unchecked_before_start": 0,
      "unkept_for_size": 0,
      "unkept_in_use": 0,
      "coverage": "all 5 blocks had canaries"
    },
    "warnings": [],
    "findings": [],
    "left_out": {
      "findings": 0
    }
  }
$ pmm check
  pmm: 'pmm check' needs an argument
  pmm: hint: usage: pmm check [options] FILE|PID|-- COMMAND [ARGUMENT...]
[2]
$ pmm check a b
  pmm: one capture or process at a time
  pmm: hint: a program is run with '--' before it: pmm check -- COMMAND
[2]
$ pmm check --level heavy -- true
  pmm: 'heavy' is not a choice of --level
  pmm: hint: one of: light, guard, sampled
[2]
$ pmm check --level=light check.pmm
  pmm: '--level' is for a COMMAND
  pmm: hint: it takes effect when a program is started: pmm check --level ... -- COMMAND
[2]
# a program without '--' before it
$ cp /bin/true prog; pmm check --level=light ./prog
  pmm: '--level' is for a COMMAND
  pmm: hint: a program is run with '--' before it: pmm check --level ... -- ./prog
[2]
$ pmm check -o x.pmm --level=light ./prog --level=guard
  pmm: '--level' is for a COMMAND
  pmm: hint: a program is run with '--' before it: pmm check --level ... -- ./prog
[2]
$ pmm check ./prog
  pmm: './prog' is not a pmm capture
  pmm: hint: a program is run with '--' before it: pmm check -- ./prog
[3]
$ pmm check ./prog -x
  pmm: unknown option '-x'
  pmm: hint: 'pmm check --help' lists the options; those of a program go after '--': pmm check -- COMMAND
[2]
$ pmm check make --jobs
  pmm: unknown option '--jobs'
  pmm: hint: 'pmm check --help' lists the options; those of a program go after '--': pmm check -- COMMAND
[2]
$ pmm check check.pmm -x
  pmm: unknown option '-x'
  pmm: hint: 'pmm check --help' lists the options
[2]
$ pmm run -q ./prog -x
$ pmm check --sweep check.pmm
  pmm: '--sweep' is for running processes
  pmm: hint: leave it out: a capture has what canary scans had found by then
[2]
$ pmm check --count 3 check.pmm
  pmm: '--count' is for running processes
  pmm: hint: leave it out: a capture has what canary scans had found by then
[2]
$ pmm check --budget 200% -- true
  pmm: true, pid N: no blocks were allocated; no heap errors
$ pmm check --budget x -- true
  pmm: --budget: 'x' is not a percentage
  pmm: hint: a number from 0 to 100000, such as 0.5
[2]
$ pmm check --quarantine 1T -- true
  pmm: true, pid N: no blocks were allocated; no heap errors
$ pmm check --guard-every 0 -- true
  pmm: unknown option '--guard-every'
  pmm: hint: 'pmm check --help' lists the options
[2]
$ pmm check -o x.pmm check.pmm
[1]
$ pmm check pmm
  pmm: cannot open 'pmm': No such file or directory
  pmm: hint: name a capture or the number of a process; a program is run with '--' before it: pmm check -- pmm
[3]
$ pmm check no/such
  pmm: cannot open 'no/such': No such file or directory
  pmm: hint: name a capture or the number of a process; a program is run with '--' before it: pmm check -- no/such
[3]
$ pmm check 999999999
  pmm: no process N
  pmm: hint: when it has ended, name its capture, pmm.COMMAND.N.pmm as a rule
[3]
$ pmm check -- no/such/program
  pmm: cannot find the program 'no/such/program'
  pmm: hint: check the spelling and PATH, or give its path
[3]
$ pmm check --report no/such/dir -- true
  pmm: cannot write to 'no/such/dir': No such file or directory
  pmm: hint: name a file in a directory that you may write to
[3]
$ pmm check --level=light --left -- true
  pmm: '--left' does nothing with '--level=light'
  pmm: hint: leave it out, or choose '--level=guard'
[2]
$ pmm check --level=light --sample 1k -- true
  pmm: '--sample' does nothing with '--level=light'
  pmm: hint: leave it out, or choose '--level=sampled'
[2]
$ pmm check --level=sampled --quarantine 1M -- true
  pmm: '--quarantine' does nothing with '--level=sampled'
  pmm: hint: leave it out, or choose '--level=light'
[2]
$ pmm check --count 3 -- true
  pmm: '--count' is for running processes
  pmm: hint: leave it out: a COMMAND is checked until it ends
[2]
$ pmm check --uninit --level=guard -- true
  pmm: '--uninit' runs Valgrind, which has no '--level'
  pmm: hint: leave out one of them
[2]
$ pmm check --uninit -o x -- true
  pmm: '--uninit' runs Valgrind, which has no '--output'
  pmm: hint: leave out one of them
[2]
$ pmm check --count 3 check.pmm
  pmm: '--count' is for running processes
  pmm: hint: leave it out: a capture has what canary scans had found by then
[2]
$ pmm check --sweep check.pmm
  pmm: '--sweep' is for running processes
  pmm: hint: leave it out: a capture has what canary scans had found by then
[2]
$ pmm check --uninit check.pmm
  pmm: '--uninit' is for a COMMAND
  pmm: hint: it takes effect when a program is started: pmm check --uninit ... -- COMMAND
[2]
$ pmm check --no-follow check.pmm
  pmm: '--no-follow' is for a COMMAND
  pmm: hint: it takes effect when a program is started: pmm check --no-follow ... -- COMMAND
[2]
$ pmm check --left $$
  pmm: '--left' is for a COMMAND
  pmm: hint: it takes effect when a program is started: pmm check --left ... -- COMMAND
[2]
