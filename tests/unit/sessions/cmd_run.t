# SPDX-License-Identifier: GPL-2.0-or-later
# Numbers that differ each time, as words.
$ cat >words <<'END'
> sed -E -e 's/\b([Pp]rocess|pid|attach|report|snapshot|--check|detach) [0-9]+/\1 N/g' -e 's/\(([0-9]+)\)/(N)/g' -e 's/\.[0-9]+\.pmm/.N.pmm/g' \
> -e 's/(less than |under )?[0-9.]+ (ms|us|s)\b/TIME/g' -e 's/in the first TIME/after TIME/' -e 's/^ *TIME  /TIME  /' -e 's/0x[0-9a-f]{6,}/ADDRESS/g' -e 's/[0-9.]+ [KM]iB in TIME/SIZE in TIME/' \
> -e 's/oldest TIME, newest TIME/all TIME old/' -e '/^(pmm:| ) RSS  /,+1d' -e "s#$BUILD#BUILD#g" -e "s#$PWD#HERE#g" -e "s#$SOURCE#SOURCE#g"
> END
$ pmm run -o a.pmm -- $PROG/leaf
  pmm: 'BUILD/tests/prog/leaf' exited with status 0 after TIME
  pmm: peak         970 B after TIME
  pmm: live at end  840 B in 7 blocks
  pmm: calls        8 allocations of 970 B, 1 free; 12.5% temporary
  pmm: live at the end, by the function that allocated it:
  pmm:        840 B   100%  kept (leaf)
  pmm: capture      a.pmm
  pmm: hint: pmm report a.pmm
$ pmm run -q -o b.pmm -- $PROG/leaf; ls *.pmm
  a.pmm
  b.pmm
$ pmm run -q -- $PROG/leaf; ls pmm.leaf.*.pmm; rm -f pmm.leaf*; ls
  pmm.leaf.N.pmm
  a.pmm
  b.pmm
  words
$ pmm run -q -o %c-%p.pmm -- $PROG/leaf; ls leaf-* | sed 's/[0-9]\+/N/'
  leaf-N.pmm
$ pmm run -q -o c.pmm -- sh -c 'exit 7'
[7]
$ pmm run -q -o c.pmm -- sh -c 'kill -TERM $$'
[143]
$ pmm run -q -o c.pmm -- sh -c 'kill -KILL $$'
[137]
$ pmm run -o f.pmm -- $PROG/fork; ls f*.pmm
  pmm: 'BUILD/tests/prog/fork' exited with status 0 after TIME
  pmm: most memory  process N (fork); the program itself had a peak of 1000 B
  pmm: peak         1.95 KiB after TIME
  pmm: live at end  1.95 KiB in 20 blocks
  pmm: calls        20 allocations of 1.95 KiB, 0 frees; 0% temporary
  pmm: live at the end, by the function that allocated it:
  pmm:     1.95 KiB   100%  in_child (fork)
  pmm: captures, the program's own and then by peak:
  pmm:       1000 B  f.pmm
  pmm:     1.95 KiB  f.N.pmm
  pmm: hint: pmm report f.N.pmm
  f.N.pmm
  f.pmm
$ pmm run -o g.pmm --no-follow -- $PROG/fork; ls g*.pmm
  pmm: 'BUILD/tests/prog/fork' exited with status 0 after TIME
  pmm: peak         1000 B after TIME
  pmm: live at end  1000 B in 10 blocks
  pmm: calls        10 allocations of 1000 B, 0 frees; 0% temporary
  pmm: live at the end, by the function that allocated it:
  pmm:       1000 B   100%  in_parent (fork)
  pmm: capture      g.pmm
  pmm: hint: pmm report g.pmm
  g.pmm
$ pmm run -o h.pmm --sample -- $PROG/leaf
  pmm: 'BUILD/tests/prog/leaf' exited with status 0 after TIME
  pmm: no allocation of it was sampled (one per 512 KiB is, on average)
  pmm: capture      h.pmm
  pmm: hint: pmm report h.pmm
$ pmm run -q -o h.pmm --sample=1K --frames 5 --interval 5ms -- $PROG/leaf 2>\&1; pmm report --json h.pmm | jq -c '.totals | [.mode, .sample_bytes]'
  ["sampled",1024]
$ pmm run --report -o h.pmm -- $PROG/leaf | head -60
  pmm: unknown option '--report'
  pmm: hint: 'pmm run --help' lists the options
$ pmm run -o h.pmm -- $PROG/leaf_static
  pmm: 'BUILD/tests/prog/leaf_static' is statically linked: preload cannot work
  pmm: hint: a static program has no loader that could bring pmm in; start it and use 'pmm attach PID', which finds its malloc by the symbol table
[3]
$ pmm run -o h.pmm -- $PROG/own_malloc
  pmm: 'BUILD/tests/prog/own_malloc' exited with status 0 after TIME
  pmm: peak         0 B
  pmm: live at end  0 B in 0 blocks
  pmm: calls        no allocations, 0 frees
  pmm: capture      h.pmm
  pmm: hint: pmm report h.pmm
  pmm: WARNING: the program has its own malloc, which precedes pmm's: its heap is not recorded
$ pmm run -o h.pmm -- $PROG/peak
  pmm: 'BUILD/tests/prog/peak' exited with status 0 after TIME
  pmm: peak         137 KiB after TIME
  pmm: live at end  19.5 KiB in 200 blocks
  pmm: calls        1,952 allocations of 190 KiB, 1,752 frees; <0.1% temporary
  pmm: live at the end, by the function that allocated it:
  pmm:     19.5 KiB   100%  first (peak)
  pmm: capture      h.pmm
  pmm: hint: pmm report h.pmm
$ pmm run -o h.pmm --leaks -- $PROG/leaf; pmm leaks --json h.pmm | jq -c '.totals'
  pmm: 'BUILD/tests/prog/leaf' exited with status 0 after TIME
  pmm: peak         970 B after TIME
  pmm: live at end  840 B in 7 blocks
  pmm: calls        8 allocations of 970 B, 1 free; 12.5% temporary
  pmm: live at the end, by the function that allocated it:
  pmm:        840 B   100%  kept (leaf)
  pmm: capture      h.pmm
  pmm: hint: pmm report h.pmm
  BUILD/tests/prog/leaf
    processes        1, searched: 7 blocks of 840 B
    process          leaf, pid N, ran TIME, exited with status 0
    searched         SIZE in TIME, at the program's end; it was held up for TIME
    definitely lost  840 bytes in 7 blocks, 1 site
    indirectly lost  0 bytes in 0 blocks
    possibly lost    0 bytes in 0 blocks
    still reachable  0 bytes in 0 blocks
  
  Leaks, certain
    bytes  blocks  allocated in
    840 B       7  kept  leaf.c:12
                     definitely lost: nothing points to these 7 blocks any
                     more; all TIME old
                     main  leaf.c:17
  [{"class":"definite","bytes":840,"blocks":7,"sites":1},{"class":"indirect","bytes":0,"blocks":0,"sites":0},{"class":"possible","bytes":0,"blocks":0,"sites":0},{"class":"reachable","bytes":0,"blocks":0,"sites":0},{"class":"suppressed","bytes":0,"blocks":0,"sites":0}]
$ pmm run -o h.pmm --leaks=never -- $PROG/leaf
  pmm: option '--leaks' takes no argument
  pmm: hint: 'pmm run --help' lists the options
[2]
$ pmm run -o h.pmm --min-size 100 -- $PROG/leaf
  pmm: 'BUILD/tests/prog/leaf' exited with status 0 after TIME
  pmm: peak         970 B after TIME
  pmm: live at end  840 B in 7 blocks
  pmm: calls        8 allocations of 970 B, 1 free; 12.5% temporary
  pmm: live at the end, by the function that allocated it:
  pmm:        840 B   100%  kept (leaf)
  pmm: capture      h.pmm
  pmm: hint: pmm report h.pmm
$ pmm run -o h.pmm --ledger-limit 4K -- $PROG/leaf
  pmm: --ledger-limit: '4K' is out of range
  pmm: hint: at least 1.00 MiB
[2]
$ pmm run -o h.pmm --ledger-limit 16M -- $PROG/leaf
  pmm: 'BUILD/tests/prog/leaf' exited with status 0 after TIME
  pmm: peak         970 B after TIME
  pmm: live at end  840 B in 7 blocks
  pmm: calls        8 allocations of 970 B, 1 free; 12.5% temporary
  pmm: live at the end, by the function that allocated it:
  pmm:        840 B   100%  kept (leaf)
  pmm: capture      h.pmm
  pmm: hint: pmm report h.pmm
$ pmm run -o no/such/dir/x.pmm -- $PROG/leaf
  pmm: cannot write captures into 'no/such/dir': No such file or directory
  pmm: hint: choose another place with -o FILE
[3]
$ pmm run -o /dev/full -- $PROG/leaf
  pmm: cannot write the capture '/dev/full': it is not a regular file
  pmm: hint: a capture replaces its file when complete; name a file
[3]
$ pmm run
  pmm: 'pmm run' needs an argument
  pmm: hint: usage: pmm run [options] [--] COMMAND [ARGUMENT...]
[2]
# what only a search for leaks reads is refused without one: nothing would ever be found
$ for o in --error-exitcode=9 --suppressions=/dev/null --no-default-suppressions; do pmm run $o -- true; echo $?; done
  pmm: '--error-exitcode' is for '--leaks'
  pmm: hint: add --leaks, which searches each process at its end
  2
  pmm: '--suppressions' is for '--leaks'
  pmm: hint: add --leaks, which searches each process at its end
  2
  pmm: '--no-default-suppressions' is for '--leaks'
  pmm: hint: add --leaks, which searches each process at its end
  2
$ pmm run --frames 0 -- true
  pmm: --frames: '0' is out of range
  pmm: hint: from 1 to 512
[2]
$ pmm run --frames 1000000 -- true
  pmm: --frames: '1000000' is out of range
  pmm: hint: from 1 to 512
[2]
$ pmm run --sample=x -- true
  pmm: --sample: 'x' is not a size
  pmm: hint: a number of bytes, or with K, M, G or T: 4096, 64K, 1.5M
[2]
$ pmm run -- no/such
  pmm: cannot find the program 'no/such'
  pmm: hint: check the spelling and PATH, or give its path
[3]
$ pmm run -- /etc/passwd
  pmm: '/etc/passwd' may not be executed
  pmm: hint: give it execute permission (chmod +x), or name its interpreter before it
[3]
$ PMM_AGENT=/nonexistent pmm run -- true
  pmm: cannot find the agent '/nonexistent': No such file or directory
  pmm: hint: PMM_AGENT names it; unset it to use the one that came with pmm
[3]
$ mkdir 'a b'; cp $BUILD/libpmm.so 'a b/'; PMM_AGENT="$PWD/a b/libpmm.so" pmm run -- true
  pmm: the agent's path 'HERE/a b/libpmm.so' has a space or a colon
  pmm: hint: LD_PRELOAD cannot name it; copy libpmm.so elsewhere and point PMM_AGENT to it
[3]
$ LD_PRELOAD=libm.so.6 pmm run -q -o h.pmm -- sh -c 'echo $LD_PRELOAD'
  BUILD/libpmm.so:libm.so.6
$ printf 'a\nb\n' | pmm run -q -o h.pmm -- sh -c 'cat; echo c >&2'
  a
  b
  c
$ (trap '' INT; ulimit -n 77; pmm run -q -o h.pmm -- sh -c 'grep -o "SigIgn.*2$" /proc/self/status | tr -d 0-9; ulimit -n')
  SigIgn:	
  77
$ pmm run -q -o s.pmm -- sh -c 'trap "exit 33" TERM; touch ready; while :; do sleep 0.05; done' & for i in 1 2 3 4 5 6 7 8 9; do [ -e ready ] || sleep 0.3; done; kill -TERM $!; wait $!; echo $?; ls s.pmm
  33
  s.pmm
$ pmm check -o k.pmm -- $PROG/check_cases after
  done
  pmm: use after free in after, check_cases.c:25
    read of 4 bytes, 8 bytes into a block of 32 bytes that was freed
    check_cases, pid N, main thread, TIME after the start:
      after  check_cases.c:25
      do_case  check_cases.c:55
      main  check_cases.c:77
    the block at ADDRESS was allocated with malloc by the same thread,
    TIME before:
      make  check_cases.c:22
      after  check_cases.c:25
      do_case  check_cases.c:55
      main  check_cases.c:77
    it was freed by the same thread, TIME before:
      drop  check_cases.c:23
      after  check_cases.c:25
      do_case  check_cases.c:55
      main  check_cases.c:77
  
  BUILD/tests/prog/check_cases after
    blocks   the only block had canaries and guard pages
    process  check_cases, pid N, ran TIME, exited with status 5
    found    1 error: 1 use after free; 1 canary scan of all live blocks
  pmm: 'pmm check k.pmm' shows it again
[5]
$ pmm check -q -- $PROG/check_cases after
  pmm: unknown option '-q'
  pmm: hint: 'pmm check --help' lists the options
[2]
$ pmm check --json --report k.json -- $PROG/check_cases after slack; jq -c '.check, [.findings[].type]' k.json
  done
  {"level":"guard","mechanism":"madvise","findings":2,"findings_lost":0,"left_open":0,"guarded_blocks":2,"guarded_most_blocks":1,"canaried_blocks":0,"unchecked_blocks":0,"unguarded_for_limit":0,"unguarded_for_budget":0,"unguarded_for_size":0,"unguarded_refused":0,"failed_on_purpose":0,"sweeps":1,"other_processes":0,"blocks":2,"unchecked_before_start":0,"unkept_for_size":0,"unkept_in_use":0,"coverage":"all 2 blocks had canaries and guard pages"}
  ["use-after-free","overrun"]
$ pmm check --level=light --error-exitcode 9 -- $PROG/check_cases behind twice
  done
  pmm: heap overrun, found in drop, check_cases.c:23
    write right behind the end of a block of 48 bytes, some time before this
    free
    check_cases, pid N, main thread, TIME after the start:
      drop  check_cases.c:23
      behind  check_cases.c:24
      do_case  check_cases.c:54
      main  check_cases.c:77
    the block at ADDRESS was allocated with malloc by the same thread,
    TIME before:
      make  check_cases.c:22
      behind  check_cases.c:24
      do_case  check_cases.c:54
      main  check_cases.c:77
  
  pmm: double free in drop, check_cases.c:23
    free of a block of 24 bytes that was freed already
    check_cases, pid N, main thread, TIME after the start:
      drop  check_cases.c:23
      twice  check_cases.c:26
      do_case  check_cases.c:56
      main  check_cases.c:77
    the block at ADDRESS was allocated with malloc by the same thread,
    TIME before:
      make  check_cases.c:22
      twice  check_cases.c:26
      do_case  check_cases.c:56
      main  check_cases.c:77
    it was freed by the same thread, TIME before:
      drop  check_cases.c:23
      twice  check_cases.c:26
      do_case  check_cases.c:56
      main  check_cases.c:77
  
  BUILD/tests/prog/check_cases behind twice
    blocks   all 2 blocks had canaries
    process  check_cases, pid N, ran TIME, exited with status 5
    found    2 errors: 1 heap overrun, 1 double free; 1 canary scan of all live
             blocks
[9]
$ pmm check --sweep=20ms --level=light -o k.pmm -- $PROG/check_cases slack 2>&1 | grep -v 'canary scan'
  done
  pmm: heap overrun, of a block from make, check_cases.c:22
    write right behind the end of a block of 33 bytes, between its allocation
    check_cases, pid N
    the block at ADDRESS was allocated with malloc by the main thread,
    TIME before:
      make  check_cases.c:22
      slack  check_cases.c:27
      do_case  check_cases.c:57
      main  check_cases.c:77
  
  BUILD/tests/prog/check_cases slack
    blocks   the only block had canaries
    process  check_cases, pid N, ran TIME, exited with status 5
  pmm: 'pmm check k.pmm' shows it again
$ pmm check -- $PROG/check_cases clean after kill
  pmm: use after free in after, check_cases.c:25
    read of 4 bytes, 8 bytes into a block of 32 bytes that was freed
    check_cases, pid N, main thread, TIME after the start:
      after  check_cases.c:25
      do_case  check_cases.c:55
      main  check_cases.c:77
    the block at ADDRESS was allocated with malloc by the same thread,
    TIME before:
      make  check_cases.c:22
      after  check_cases.c:25
      do_case  check_cases.c:55
      main  check_cases.c:77
    it was freed by the same thread, TIME before:
      drop  check_cases.c:23
      after  check_cases.c:25
      do_case  check_cases.c:55
      main  check_cases.c:77
  
  BUILD/tests/prog/check_cases clean after kill
    blocks   the only block had canaries and guard pages
    process  check_cases, pid N, ran TIME, killed by signal 9 (SIGKILL)
    found    1 error: 1 use after free
  
    !  its live blocks were not scanned at its end: it was killed, or how
       it ended was not seen
[137]
$ pmm check --no-follow -- $PROG/check_cases fork
  done
  pmm: check_cases, pid N: no blocks were allocated; no heap errors
[5]
$ PMM_CHECK_AGENT=/nonexistent pmm check -- true
  pmm: cannot find the agent '/nonexistent': No such file or directory
  pmm: hint: PMM_CHECK_AGENT names it; unset it to use the one that came with pmm
[3]
$ pmm check -- env $PROG/leaf_static 2>&1 | sed 's/[0-9]* blocks/N blocks/'
  pmm: WARNING: 1 program was not tracked: leaf_static (static)
  pmm: hint: 'pmm attach PID' watches such a program while it runs
  pmm: none of 1 process was checked
$ pmm check --error-exitcode 9 -- env $PROG/leaf_static 2>/dev/null
[3]
$ pmm leaks -- $PROG/leaf
  BUILD/tests/prog/leaf
    processes        1, searched: 7 blocks of 840 B
    process          leaf, pid N, ran TIME, exited with status 0
    searched         SIZE in TIME, at the program's end; it was held up for TIME
    definitely lost  840 bytes in 7 blocks, 1 site
    indirectly lost  0 bytes in 0 blocks
    possibly lost    0 bytes in 0 blocks
    still reachable  0 bytes in 0 blocks
  
  Leaks, certain
    bytes  blocks  allocated in
    840 B       7  kept  leaf.c:12
                     definitely lost: nothing points to these 7 blocks any
                     more; all TIME old
                     main  leaf.c:17
$ pmm leaks --show all --top 0 -- $PROG/leaf
  BUILD/tests/prog/leaf
    processes        1, searched: 7 blocks of 840 B
    process          leaf, pid N, ran TIME, exited with status 0
    searched         SIZE in TIME, at the program's end; it was held up for TIME
    definitely lost  840 bytes in 7 blocks, 1 site
    indirectly lost  0 bytes in 0 blocks
    possibly lost    0 bytes in 0 blocks
    still reachable  0 bytes in 0 blocks
  
  Leaks, certain
    bytes  blocks  allocated in
    840 B       7  kept  leaf.c:12
                     definitely lost: nothing points to these 7 blocks any
                     more; all TIME old
                     main  leaf.c:17
$ pmm leaks --error-exitcode 9 -- false
  false
    processes        1, searched: 0 blocks of 0 B
    process          false, pid N, ran TIME, exited with status 1
    searched         SIZE in TIME, at the program's end; it was held up for TIME
    definitely lost  0 bytes in 0 blocks
    indirectly lost  0 bytes in 0 blocks
    possibly lost    0 bytes in 0 blocks
    still reachable  0 bytes in 0 blocks
  
    no leaks were found: no allocation was seen
[1]
$ pmm leaks -- env $PROG/leaf_static
  pmm: WARNING: 1 program was not tracked: leaf_static (static)
  pmm: hint: 'pmm attach PID' and then 'pmm leaks PID' search such a program while it runs
  env BUILD/tests/prog/leaf_static
    processes  1, none searched: 0 blocks of 0 B
    exec       1 program was replaced by another one in its process, and was
               not searched for leaks
    process    env, pid N, ran TIME, ended without exit(), status 0
  
    nothing was searched
$ pmm leaks --fail-on=definite -- env $PROG/leaf_static
  pmm: WARNING: 1 program was not tracked: leaf_static (static)
  pmm: hint: 'pmm attach PID' and then 'pmm leaks PID' search such a program while it runs
  env BUILD/tests/prog/leaf_static
    processes  1, none searched: 0 blocks of 0 B
    exec       1 program was replaced by another one in its process, and was
               not searched for leaks
    process    env, pid N, ran TIME, ended without exit(), status 0
  
    nothing was searched
[3]
$ pmm leaks --fail-on=definite --report /dev/full -- true
  pmm: cannot write the verdict: No space left on device
[3]
$ pmm leaks -- sh -c 'kill -TERM $$' 2>&1 | grep -v 'reachable\|processes'
  sh -c 'kill -TERM $$'
    process          sh, pid N, ran TIME, killed by signal 15 (SIGTERM)
    searched         SIZE in TIME, at the program's end; it was held up for TIME
    definitely lost  0 bytes in 0 blocks
    indirectly lost  0 bytes in 0 blocks
    possibly lost    0 bytes in 0 blocks
  
    no leaks were found
$ pmm leaks --json --report l.json -o l.pmm -- $PROG/leaf; jq -c '.totals' l.json; pmm leaks --json l.pmm | jq -c .totals
  [{"class":"definite","bytes":840,"blocks":7,"sites":1},{"class":"indirect","bytes":0,"blocks":0,"sites":0},{"class":"possible","bytes":0,"blocks":0,"sites":0},{"class":"reachable","bytes":0,"blocks":0,"sites":0},{"class":"suppressed","bytes":0,"blocks":0,"sites":0}]
  [{"class":"definite","bytes":840,"blocks":7,"sites":1},{"class":"indirect","bytes":0,"blocks":0,"sites":0},{"class":"possible","bytes":0,"blocks":0,"sites":0},{"class":"reachable","bytes":0,"blocks":0,"sites":0},{"class":"suppressed","bytes":0,"blocks":0,"sites":0}]
