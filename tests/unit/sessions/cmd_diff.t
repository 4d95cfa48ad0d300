# SPDX-License-Identifier: GPL-2.0-or-later
# Frames have build IDs, so that they are compared by offset: figures follow from the recipes.
$ printf '%s\n' 'process comm=app taken=20s' 'module app build-id=11' 'module lib.so build-id=22' 'site app+0x10>app+0x20 allocs=10 size=1000' 'site app+0x10>app+0x30 allocs=4 size=50' 'site app+0x10>lib.so+0x40 allocs=3 frees=1 size=4K temporary=1' >base
$ printf '%s\n' 'process comm=app taken=30s pid=77' 'module app build-id=11' 'module lib.so build-id=22' 'site app+0x10>app+0x20 allocs=13 size=1000' 'site app+0x10>app+0x50 allocs=2 size=70' 'site app+0x10>lib.so+0x40 allocs=9 frees=7 size=4K temporary=6' >new
$ mkcapture base base.pmm; mkcapture new new.pmm
$ pmm diff base.pmm new.pmm
    before  base.pmm: app, pid 4242, ran 20.0 s to 2023-11-14 22:13:40, exited with status 0
    after   new.pmm: app, pid 77, ran 30.0 s to 2023-11-14 22:13:50, exited with status 0
  
                 before     after     change           blocks, calls  after  change
    live       18.0 KiB  20.8 KiB  +2.87 KiB  +16.0%              16     17      +1
    peak       18.0 KiB  20.8 KiB  +2.87 KiB  +16.0%
    allocated  22.0 KiB  48.8 KiB  +26.9 KiB  +122.4%             17     24      +7
    temporary                                 +500.0%              1      6      +5
  
  Lines by change of live bytes
       change  blocks    before     after        line
    +2.93 KiB      +3  9.77 KiB  12.7 KiB  grew  app+0x20
       -200 B      -4     200 B       0 B  gone  app+0x30
       +140 B      +2       0 B     140 B  new   app+0x50
  
  Functions by change of live bytes
       change  blocks    before     after        function
    +2.93 KiB      +3  9.77 KiB  12.7 KiB  grew  app+0x20
       -200 B      -4     200 B       0 B  gone  app+0x30
       +140 B      +2       0 B     140 B  new   app+0x50
  
  Modules by change of live bytes
       change  blocks    before     after        module
    +2.87 KiB      +1  9.96 KiB  12.8 KiB  grew  app
  
  Stacks by change of live bytes
       change  blocks    before     after        stack
    +2.93 KiB      +3  9.77 KiB  12.7 KiB  grew  app+0x20
                                                   app+0x10
       -200 B      -4     200 B       0 B  gone  app+0x30
                                                   app+0x10
       +140 B      +2       0 B     140 B  new   app+0x50
                                                   app+0x10
# the other way round
$ pmm diff --top 2 --depth 1 new.pmm base.pmm
    before  new.pmm: app, pid 77, ran 30.0 s to 2023-11-14 22:13:50, exited with status 0
    after   base.pmm: app, pid 4242, ran 20.0 s to 2023-11-14 22:13:40, exited with status 0
  
                 before     after     change          blocks, calls  after  change
    live       20.8 KiB  18.0 KiB  -2.87 KiB  -13.8%             17     16      -1
    peak       20.8 KiB  18.0 KiB  -2.87 KiB  -13.8%
    allocated  48.8 KiB  22.0 KiB  -26.9 KiB  -55.0%             24     17      -7
    temporary                                 -83.3%              6      1      -5
  
  Lines by change of live bytes
       change  blocks    before     after          line
    -2.93 KiB      -3  12.7 KiB  9.77 KiB  shrank  app+0x20
       +200 B      +4       0 B     200 B  new     app+0x30
    1 more row that changed (--top 0 shows all)
  
  Functions by change of live bytes
       change  blocks    before     after          function
    -2.93 KiB      -3  12.7 KiB  9.77 KiB  shrank  app+0x20
       +200 B      +4       0 B     200 B  new     app+0x30
    1 more row that changed (--top 0 shows all)
  
  Modules by change of live bytes
       change  blocks    before     after          module
    -2.87 KiB      -1  12.8 KiB  9.96 KiB  shrank  app
  
  Stacks by change of live bytes
       change  blocks    before     after          stack
    -2.93 KiB      -3  12.7 KiB  9.77 KiB  shrank  app+0x20
                                                     1 more frame (--depth 0 shows all)
       +200 B      +4       0 B     200 B  new     app+0x30
                                                     1 more frame (--depth 0 shows all)
    1 more row that changed (--top 0 shows all)
# calls and temporary allocations are numbers
$ pmm diff --sort calls --module lib.so base.pmm new.pmm
    before  base.pmm: app, pid 4242, ran 20.0 s to 2023-11-14 22:13:40, exited with status 0
    after   new.pmm: app, pid 77, ran 30.0 s to 2023-11-14 22:13:50, exited with status 0
    only    module 'lib.so'
  
                 before     after     change           blocks, calls  after  change
    live       8.00 KiB  8.00 KiB        0 B                       2      2       0
    peak       8.00 KiB  8.00 KiB        0 B
    allocated  12.0 KiB  36.0 KiB  +24.0 KiB  +200.0%              3      9      +6
    temporary                                 +500.0%              1      6      +5
  
  Lines by change of calls
       change  calls    before     after        line
    +24.0 KiB     +6  12.0 KiB  36.0 KiB  grew  lib.so+0x40
  
  Functions by change of calls
       change  calls    before     after        function
    +24.0 KiB     +6  12.0 KiB  36.0 KiB  grew  lib.so+0x40
  
  Modules by change of calls
       change  calls    before     after        module
    +24.0 KiB     +6  12.0 KiB  36.0 KiB  grew  lib.so
  
  Stacks by change of calls
       change  calls    before     after        stack
    +24.0 KiB     +6  12.0 KiB  36.0 KiB  grew  lib.so+0x40
                                                  app+0x10
$ pmm diff --sort temporary base.pmm new.pmm
    before  base.pmm: app, pid 4242, ran 20.0 s to 2023-11-14 22:13:40, exited with status 0
    after   new.pmm: app, pid 77, ran 30.0 s to 2023-11-14 22:13:50, exited with status 0
  
                 before     after     change           blocks, calls  after  change
    live       18.0 KiB  20.8 KiB  +2.87 KiB  +16.0%              16     17      +1
    peak       18.0 KiB  20.8 KiB  +2.87 KiB  +16.0%
    allocated  22.0 KiB  48.8 KiB  +26.9 KiB  +122.4%             17     24      +7
    temporary                                 +500.0%              1      6      +5
  
  Lines by change of temporary allocations
    calls  before  after        line
       +5       1      6  grew  lib.so+0x40
  
  Functions by change of temporary allocations
    calls  before  after        function
       +5       1      6  grew  lib.so+0x40
  
  Modules by change of temporary allocations
    calls  before  after        module
       +5       1      6  grew  lib.so
  
  Stacks by change of temporary allocations
    calls  before  after        stack
       +5       1      6  grew  lib.so+0x40
                                  app+0x10
# conditions
$ pmm diff --top 1 --fail-on 'grow>5%,1K' --fail-on 'stack.calls>5' base.pmm new.pmm
    before  base.pmm: app, pid 4242, ran 20.0 s to 2023-11-14 22:13:40, exited with status 0
    after   new.pmm: app, pid 77, ran 30.0 s to 2023-11-14 22:13:50, exited with status 0
  
                 before     after     change           blocks, calls  after  change
    live       18.0 KiB  20.8 KiB  +2.87 KiB  +16.0%              16     17      +1
    peak       18.0 KiB  20.8 KiB  +2.87 KiB  +16.0%
    allocated  22.0 KiB  48.8 KiB  +26.9 KiB  +122.4%             17     24      +7
    temporary                                 +500.0%              1      6      +5
  
  Grew by more than --fail-on allows
    live grew by 2.87 KiB (+16.0%), from 18.0 KiB to 20.8 KiB: 'grow>5%,1K'
      app+0x20: live grew by 2.93 KiB (+30.0%), from 9.77 KiB to 12.7 KiB
      app+0x50: live grew by 140 B, from 0 B to 140 B
    lib.so+0x40: calls grew by 6 (+200.0%), from 3 to 9: 'stack.calls>5'
  
  Lines by change of live bytes
       change  blocks    before     after        line
    +2.93 KiB      +3  9.77 KiB  12.7 KiB  grew  app+0x20
    2 more rows that changed (--top 0 shows all)
  
  Functions by change of live bytes
       change  blocks    before     after        function
    +2.93 KiB      +3  9.77 KiB  12.7 KiB  grew  app+0x20
    2 more rows that changed (--top 0 shows all)
  
  Modules by change of live bytes
       change  blocks    before     after        module
    +2.87 KiB      +1  9.96 KiB  12.8 KiB  grew  app
  
  Stacks by change of live bytes
       change  blocks    before     after        stack
    +2.93 KiB      +3  9.77 KiB  12.7 KiB  grew  app+0x20
                                                   app+0x10
    2 more rows that changed (--top 0 shows all)
[1]
$ pmm diff --top 1 --fail-on 'grow>20%,1K' --fail-on 'live>5%,1M' --fail-on 'line.live>3000' base.pmm new.pmm >passed
$ pmm diff --json --fail-on 'live>1K' base.pmm new.pmm >found; jq -c '.failed[] | [.scope, .what, .unit, .before, .after, .change, .module_offset]' found
  ["total","live","bytes",18392,21332,2940,null]
  ["line","live","bytes",10000,13000,3000,"0x20"]
  ["line","live","bytes",0,140,140,"0x50"]
$ pmm diff --json --fail-on 'live>1M' base.pmm new.pmm | jq -c '.failed, (.lines | map(.change_bytes)), .left_out'
  []
  [3000,-200,140]
  {"lines":0,"functions":0,"modules":0,"stacks":0}
# what must be known first
$ printf '%s\n' 'process comm=other attached end=running' 'watch mode=sampled sample=4K min-size=16' 'module app build-id=99' 'drop block-full=7' 'site app+0x10>app+0x20 allocs=100 size=900 samples-in=9' 'site - allocs=3 size=80' >odd; mkcapture odd odd.pmm
$ pmm diff --top 1 base.pmm odd.pmm
    before  base.pmm: app, pid 4242, ran 20.0 s to 2023-11-14 22:13:40, exited with status 0
    after   odd.pmm: other, pid 4242, watched for 10.0 s to 2023-11-14 22:13:30, running when captured
  
    !  compares 'app' with 'other': two programs
    !  'base.pmm' is exact and 'odd.pmm' is sampled: differences may be no more than that
    !  blocks were recorded from 0 B on in 'base.pmm', from 16 B on in 'odd.pmm'
    !  figures of 'odd.pmm' are estimates, live bytes within 79.4 KiB in 19 of 20 cases
    !  'odd.pmm' lacks what was allocated before pmm attached, 'base.pmm' has all
    !  'odd.pmm': 7 blocks were not recorded: the ledger reached its limit (--ledger-limit)
    !  9.96 KiB of 'base.pmm' could not be matched: functions have no names, and the other build of 'app' has other addresses
    !  87.9 KiB of 'odd.pmm' could not be matched: functions have no names, and the other build of 'app' has other addresses
    !  240 B of 'odd.pmm' have no known stack
  
                 before     after     change           blocks, calls  after  change
    live       18.0 KiB  88.1 KiB  +70.2 KiB  +390.6%             16    103     +87
    peak       18.0 KiB  88.1 KiB  +70.2 KiB  +390.6%
    allocated  22.0 KiB  88.1 KiB  +66.2 KiB  +301.3%             17    103     +86
    temporary                                 -100.0%              1      0      -1
  
  Lines by change of live bytes
       change  blocks  before     after       line
    +87.9 KiB    +100     0 B  87.9 KiB  new  app+0x20
    4 more rows that changed (--top 0 shows all)
  
  Functions by change of live bytes
       change  blocks  before     after       function
    +87.9 KiB    +100     0 B  87.9 KiB  new  app+0x20
    4 more rows that changed (--top 0 shows all)
  
  Modules by change of live bytes
       change  blocks    before     after        module
    +77.9 KiB     +86  9.96 KiB  87.9 KiB  grew  app
    2 more rows that changed (--top 0 shows all)
  
  Stacks by change of live bytes
       change  blocks  before     after       stack
    +87.9 KiB    +100     0 B  87.9 KiB  new  app+0x20
                                                app+0x10
    4 more rows that changed (--top 0 shows all)
# leaks: only where both were searched
$ (cat base; echo 'search exit complete'; echo 'leak app+0x10>app+0x20 definite blocks=1 bytes=1000') >base2; mkcapture base2 base2.pmm
$ (cat new; echo 'search exit complete'; echo 'leak app+0x10>app+0x20 definite blocks=2 bytes=2000'; echo 'leak app+0x10>app+0x50 indirect blocks=2 bytes=140') >new2; mkcapture new2 new2.pmm
$ pmm diff --sort leaked --fail-on 'line.leaked>0' base2.pmm new2.pmm
    before  base2.pmm: app, pid 4242, ran 20.0 s to 2023-11-14 22:13:40, exited with status 0
    after   new2.pmm: app, pid 77, ran 30.0 s to 2023-11-14 22:13:50, exited with status 0
  
                 before     after     change           blocks, calls  after  change
    live       18.0 KiB  20.8 KiB  +2.87 KiB  +16.0%              16     17      +1
    peak       18.0 KiB  20.8 KiB  +2.87 KiB  +16.0%
    allocated  22.0 KiB  48.8 KiB  +26.9 KiB  +122.4%             17     24      +7
    temporary                                 +500.0%              1      6      +5
    leaked       1000 B  2.09 KiB  +1.11 KiB  +114.0%              1      4      +3
  
  Grew by more than --fail-on allows
    app+0x20: leaked grew by 1000 B (+100.0%), from 1000 B to 1.95 KiB: 'line.leaked>0'
    app+0x50: leaked grew by 140 B, from 0 B to 140 B: 'line.leaked>0'
  
  Lines by change of lost bytes
     change  blocks  before     after        line
    +1000 B      +1  1000 B  1.95 KiB  grew  app+0x20
     +140 B      +2     0 B     140 B  new   app+0x50
  
  Functions by change of lost bytes
     change  blocks  before     after        function
    +1000 B      +1  1000 B  1.95 KiB  grew  app+0x20
     +140 B      +2     0 B     140 B  new   app+0x50
  
  Modules by change of lost bytes
       change  blocks  before     after        module
    +1.11 KiB      +3  1000 B  2.09 KiB  grew  app
  
  Stacks by change of lost bytes
     change  blocks  before     after        stack
    +1000 B      +1  1000 B  1.95 KiB  grew  app+0x20
                                               app+0x10
     +140 B      +2     0 B     140 B  new   app+0x50
                                               app+0x10
[1]
# what pmm leaks would not report does not count
$ echo 'leak:app' >app.supp; pmm diff --suppressions app.supp --sort leaked --fail-on 'leaked>0' --json base2.pmm new2.pmm | jq -c '.stacks, .failed, (.captures | map([.suppressed_bytes, .suppressed_blocks]))'
  pmm: 'base2.pmm': 1,000 bytes in 1 block that were lost are suppressed
  pmm: 'new2.pmm': 2,140 bytes in 4 blocks that were lost are suppressed
  []
  []
  [[1000,1],[2140,4]]
$ pmm diff --suppressions app.supp --no-symbols base2.pmm new2.pmm
  pmm: '--suppressions' needs symbols
  pmm: hint: leave out --no-symbols
[2]
$ pmm diff --fail-on 'leaked>0' base.pmm new2.pmm
  pmm: 'base.pmm' was not searched for leaks, which --fail-on is about
  pmm: hint: run the program with 'pmm run --leaks'
[3]
$ pmm diff --sort leaked base2.pmm new.pmm
  pmm: 'new.pmm' was not searched for leaks, which --sort is about
  pmm: hint: run the program with 'pmm run --leaks'
[3]
# what was not recorded on either side is no pass; what grew all the same has
$ for line in 'drop block-full=3000' 'watch off=3' 'totals skipped=3000' 'process attached' 'watch mode=sampled sample=4K'; do (cat new; echo "$line") >gap; mkcapture gap gap.pmm; pmm diff --fail-on 'live>1M' base.pmm gap.pmm >said; echo "status $?"; pmm diff --fail-on 'live>1M' gap.pmm new.pmm >said; echo "status $?"; pmm diff --fail-on 'line.calls>1' base.pmm gap.pmm >said; echo "status $?"; done
  pmm: 'gap.pmm': not all blocks and stacks were recorded: --fail-on cannot pass
  pmm: hint: record it again without that, both in the same way; doc/diff.md says more
  status 3
  pmm: 'gap.pmm': not all blocks and stacks were recorded: --fail-on cannot pass
  pmm: hint: record it again without that, both in the same way; doc/diff.md says more
  status 3
  status 1
  pmm: 'gap.pmm': recording stopped before the end: --fail-on cannot pass
  pmm: hint: record it again without that, both in the same way; doc/diff.md says more
  status 3
  pmm: 'gap.pmm': recording stopped before the end: --fail-on cannot pass
  pmm: hint: record it again without that, both in the same way; doc/diff.md says more
  status 3
  status 1
  pmm: 'gap.pmm': blocks below --min-size were not recorded: --fail-on cannot pass
  pmm: hint: record it again without that, both in the same way; doc/diff.md says more
  status 3
  pmm: 'gap.pmm': blocks below --min-size were not recorded: --fail-on cannot pass
  pmm: hint: record it again without that, both in the same way; doc/diff.md says more
  status 3
  status 1
  pmm: 'gap.pmm': what was allocated before it was attached to is not known: --fail-on cannot pass
  pmm: hint: record it again without that, both in the same way; doc/diff.md says more
  status 3
  pmm: 'gap.pmm': what was allocated before it was attached to is not known: --fail-on cannot pass
  pmm: hint: record it again without that, both in the same way; doc/diff.md says more
  status 3
  status 1
  pmm: 'gap.pmm': figures are estimates, as it was sampled: --fail-on cannot pass
  pmm: hint: record it again without that, both in the same way; doc/diff.md says more
  status 3
  pmm: 'gap.pmm': figures are estimates, as it was sampled: --fail-on cannot pass
  pmm: hint: record it again without that, both in the same way; doc/diff.md says more
  status 3
  status 1
# a process that still runs is compared as it is; so are two that were sampled, or attached to
$ for line in 'process end=running' 'process attached' 'watch mode=sampled sample=4K'; do for of in base new; do (cat $of; echo "$line") >gap; mkcapture gap $of-gap.pmm; done; pmm diff --fail-on 'live>1M' base-gap.pmm new-gap.pmm >said; echo "status $?"; done
  status 0
  status 0
  status 0
$ (cat new; echo 'process end=running') >gap; mkcapture gap gap.pmm; pmm diff --fail-on 'live>1M' base.pmm gap.pmm >said
# stacks that were not kept matter to conditions on rows, and to a filter on stacks
$ (cat new; echo 'drop site-full=3') >gap; mkcapture gap gap.pmm; for c in 'live>1M' 'line.live>1M' 'live>1M --module app'; do pmm diff --fail-on $c base.pmm gap.pmm >said; echo "status $?"; done
  status 0
  pmm: 'gap.pmm': not all blocks and stacks were recorded: --fail-on cannot pass
  pmm: hint: record it again without that, both in the same way; doc/diff.md says more
  status 3
  pmm: 'gap.pmm': not all blocks and stacks were recorded: --fail-on cannot pass
  pmm: hint: record it again without that, both in the same way; doc/diff.md says more
  status 3
# a search for leaks that did not see all
$ for search in 'exit' 'exit complete unread=4K' 'exit complete'; do (cat base; echo "search $search") >gap; mkcapture gap gap.pmm; pmm diff --fail-on 'leaked>0' base2.pmm gap.pmm >said; echo "status $?"; pmm diff --fail-on 'live>1M' base2.pmm gap.pmm >said; echo "status $?"; done
  pmm: 'gap.pmm': the search for leaks did not see all memory: --fail-on cannot pass
  pmm: hint: record it again without that, both in the same way; doc/diff.md says more
  status 3
  status 0
  pmm: 'gap.pmm': the search for leaks did not see all memory: --fail-on cannot pass
  pmm: hint: record it again without that, both in the same way; doc/diff.md says more
  status 3
  status 0
  status 0
  status 0
# a filter that nothing passes is no pass either; without a condition it may be
$ pmm diff --function nosuchfn --fail-on 'line.peak>0' base.pmm new.pmm
  pmm: no stack of 'base.pmm' or 'new.pmm' passes the filter: --fail-on cannot pass
  pmm: hint: 'pmm report' names the functions, files and modules that there are
[3]
$ pmm diff --module nosuchlib --fail-on 'live>0' base.pmm new.pmm
  pmm: no stack of 'base.pmm' or 'new.pmm' passes the filter: --fail-on cannot pass
  pmm: hint: 'pmm report' names the functions, files and modules that there are
[3]
$ pmm diff --module lib.so --fail-on 'live>1M' base.pmm new.pmm >said
$ pmm diff --module nosuchlib base.pmm new.pmm >said
# nothing has changed
$ cp base.pmm same.pmm; pmm diff base.pmm same.pmm
    before  base.pmm: app, pid 4242, ran 20.0 s to 2023-11-14 22:13:40, exited with status 0
    after   same.pmm: app, pid 4242, ran 20.0 s to 2023-11-14 22:13:40, exited with status 0
  
                 before     after  change    blocks, calls  after  change
    live       18.0 KiB  18.0 KiB     0 B               16     16       0
    peak       18.0 KiB  18.0 KiB     0 B
    allocated  22.0 KiB  22.0 KiB     0 B               17     17       0
    temporary                                            1      1       0
  
    nothing  no line, function, module or stack has changed by '--sort live'
# filters
$ pmm diff --size 4K --top 3 base.pmm new.pmm
    before  base.pmm: app, pid 4242, ran 20.0 s to 2023-11-14 22:13:40, exited with status 0
    after   new.pmm: app, pid 77, ran 30.0 s to 2023-11-14 22:13:50, exited with status 0
    only    size 4.00 KiB to any (of live blocks)
  
            before     after  change    blocks, calls  after  change
    live  8.00 KiB  8.00 KiB     0 B                2      2       0
  
    nothing  no line, function, module or stack has changed by '--sort live'
$ pmm diff --thread main --fail-on 'peak>1%' base.pmm new.pmm
  pmm: --fail-on cannot be used with --thread, --size or --age
  pmm: hint: those are known of live blocks only
[2]
$ pmm diff --thread none base.pmm new.pmm
  pmm: no thread matches 'none'
  pmm: hint: the report without --thread lists the threads
[3]
$ pmm diff --no-symbols --function parse base.pmm new.pmm
  pmm: '--function' and '--file' need symbols
  pmm: hint: leave out --no-symbols
[2]
# wrong usage
$ pmm diff base.pmm
  pmm: 'pmm diff' needs more arguments
  pmm: hint: usage: pmm diff [options] BEFORE AFTER | --trend FILE...
[2]
$ pmm diff base.pmm base.pmm
  pmm: 'base.pmm' and 'base.pmm' are the same file
  pmm: hint: name the capture from before first, then the one from after
[2]
$ pmm diff base.pmm missing.pmm
  pmm: cannot open 'missing.pmm': No such file or directory
  pmm: hint: give the name of a capture or the number of a tracked process
[3]
$ pmm diff base.pmm base
  pmm: 'base' is not a pmm capture
  pmm: hint: captures are written by 'pmm run' and 'pmm snapshot'; their names end in .pmm
[3]
$ for c in 'grow' 'grow>' 'grow>5%,6%' 'grow>1K,2K' 'grow>-5%' 'grow>0x5%' 'rows.live>1' 'line.>1' 'live>1,' 'live>nan%' 'live>5%x'; do pmm diff --fail-on "$c" base.pmm new.pmm; done
  pmm: 'grow' is no condition: it has no '>' with a limit behind it
  pmm: hint: as in 'grow>5%,1M', 'line.live>64K' or 'leaked>0'; see doc/diff.md
  pmm: 'grow>' is no condition: its limits are one percentage, one size, or both with a ',' between
  pmm: hint: as in 'grow>5%,1M', 'line.live>64K' or 'leaked>0'; see doc/diff.md
  pmm: 'grow>5%,6%' is no condition: its limits are one percentage, one size, or both with a ',' between
  pmm: hint: as in 'grow>5%,1M', 'line.live>64K' or 'leaked>0'; see doc/diff.md
  pmm: 'grow>1K,2K' is no condition: its limits are one percentage, one size, or both with a ',' between
  pmm: hint: as in 'grow>5%,1M', 'line.live>64K' or 'leaked>0'; see doc/diff.md
  pmm: 'grow>-5%' is no condition: its limits are one percentage, one size, or both with a ',' between
  pmm: hint: as in 'grow>5%,1M', 'line.live>64K' or 'leaked>0'; see doc/diff.md
  pmm: 'grow>0x5%' is no condition: its limits are one percentage, one size, or both with a ',' between
  pmm: hint: as in 'grow>5%,1M', 'line.live>64K' or 'leaked>0'; see doc/diff.md
  pmm: 'rows.live>1' is no condition: before the '.' is none of total, line, function, module, stack
  pmm: hint: as in 'grow>5%,1M', 'line.live>64K' or 'leaked>0'; see doc/diff.md
  pmm: 'line.>1' is no condition: before the '>' is none of grow, live, peak, allocated, calls, temporary, leaked
  pmm: hint: as in 'grow>5%,1M', 'line.live>64K' or 'leaked>0'; see doc/diff.md
  pmm: 'live>1,' is no condition: its limits are one percentage, one size, or both with a ',' between
  pmm: hint: as in 'grow>5%,1M', 'line.live>64K' or 'leaked>0'; see doc/diff.md
  pmm: 'live>nan%' is no condition: its limits are one percentage, one size, or both with a ',' between
  pmm: hint: as in 'grow>5%,1M', 'line.live>64K' or 'leaked>0'; see doc/diff.md
  pmm: 'live>5%x' is no condition: its limits are one percentage, one size, or both with a ',' between
  pmm: hint: as in 'grow>5%,1M', 'line.live>64K' or 'leaked>0'; see doc/diff.md
[2]
# a line over many captures: app+0x20 grows by 1000 bytes a capture, app+0x30 goes up and down, app+0x50 falls
$ for i in 1 2 3 4 5 6; do printf '%s\n' "process comm=app pid=$i taken=${i}0s" 'module app build-id=11' "site app+0x10>app+0x20 allocs=$i size=1000" "site app+0x10>app+0x30 allocs=$((i % 2 + 1)) size=50" "site app+0x10>app+0x50 allocs=9 frees=$i size=70" >t; mkcapture t t$i.pmm; done
$ pmm diff --trend t1.pmm t2.pmm t3.pmm t4.pmm t5.pmm t6.pmm
    captures  6, from 't1.pmm' to 't6.pmm'; slopes are per capture
  
    live  from 1.62 KiB to 6.11 KiB, +930 B per capture: it grows steadily
  
  Lines by growth
    per capture  r2     first      last                  line
        +1000 B  1.00  1000 B  5.86 KiB  ▂▃▄▅▆█  steady  app+0x20
            0 B  0.09   100 B      50 B  █▄█▄█▄          app+0x30
          -70 B  1.00   560 B     210 B  █▇▆▅▄▃          app+0x50
  
  Functions by growth
    per capture  r2     first      last                  function
        +1000 B  1.00  1000 B  5.86 KiB  ▂▃▄▅▆█  steady  app+0x20
            0 B  0.09   100 B      50 B  █▄█▄█▄          app+0x30
          -70 B  1.00   560 B     210 B  █▇▆▅▄▃          app+0x50
  
  Modules by growth
    per capture  r2       first      last                  module
         +930 B  1.00  1.62 KiB  6.11 KiB  ▂▃▄▅▇█  steady  app
$ pmm diff --trend --json --top 2 t1.pmm t2.pmm t3.pmm | jq -c '.selection, .total, (.lines[] | [.slope, .r_squared, .first, .last, .steady, .values]), .left_out'
  {"sort":"live","unit":"bytes","per":"capture"}
  {"slope":930,"r_squared":0.9990374249191438,"first":1660,"last":3520,"steady":true}
  [1000,1,1000,3000,true,[1000,2000,3000]]
  [0,0,100,100,false,[100,50,100]]
  {"lines":1,"functions":1,"modules":0,"stacks":1}
$ pmm diff --trend --sort calls --top 1 t1.pmm t2.pmm t3.pmm
    captures  3, from 't1.pmm' to 't3.pmm'; slopes are per capture
  
    calls  from 12 to 14, +1 per capture
  
  Lines by growth
    per capture  r2    first  last               line
             +1  1.00      1     3  ▃▅█  steady  app+0x20
    1 more row that changed (--top 0 shows all)
  
  Functions by growth
    per capture  r2    first  last               function
             +1  1.00      1     3  ▃▅█  steady  app+0x20
    1 more row that changed (--top 0 shows all)
  
  Modules by growth
    per capture  r2    first  last         module
             +1  0.75     12    14  ▇▇█    app
# snapshots of one process: an hour apart, 3600 bytes an hour
$ for i in 1 2 3; do printf '%s\n' "process comm=app end=running taken=${i}h" 'watch drift=2' 'module app build-id=11' "site app+0x10>app+0x20 allocs=$i size=3600" >t; mkcapture t h$i.pmm; done
$ pmm diff --trend h1.pmm h2.pmm h3.pmm
    !         incomplete, as 'pmm report' says in full: 'h1.pmm', 'h2.pmm', 'h3.pmm'
    captures  3, from 'h1.pmm' to 'h3.pmm'; slopes are per hour
  
    live  from 3.52 KiB to 10.5 KiB, +3.52 KiB per hour: it grows steadily
  
  Lines by growth
     per hour  r2       first      last               line
    +3.52 KiB  1.00  3.52 KiB  10.5 KiB  ▃▅█  steady  app+0x20
  
  Functions by growth
     per hour  r2       first      last               function
    +3.52 KiB  1.00  3.52 KiB  10.5 KiB  ▃▅█  steady  app+0x20
  
  Modules by growth
     per hour  r2       first      last               module
    +3.52 KiB  1.00  3.52 KiB  10.5 KiB  ▃▅█  steady  app
$ pmm diff --trend h1.pmm h2.pmm
  pmm: '--trend' needs 3 to 128 captures
  pmm: hint: two are compared without it
[2]
$ pmm diff h1.pmm h2.pmm h3.pmm
  pmm: there are more than two captures
  pmm: hint: --trend compares many of them
[2]
$ pmm diff --trend --fail-on 'grow>1%' h1.pmm h2.pmm h3.pmm
  pmm: '--trend' and '--fail-on' cannot be used together
  pmm: hint: compare the first and the last capture
[2]
# one capture three times is no trend, whatever it is called
$ ln -sf h1.pmm h1-link.pmm; pmm diff --trend h1.pmm h1.pmm h1.pmm; pmm diff --trend h1.pmm h2.pmm h1-link.pmm
  pmm: 'h1.pmm' and 'h1.pmm' are the same file
  pmm: hint: name each capture once, the oldest first
  pmm: 'h1.pmm' and 'h1-link.pmm' are the same file
  pmm: hint: name each capture once, the oldest first
[2]
$ pmm diff --trend --sort leaked h1.pmm h2.pmm h3.pmm
  pmm: 'h1.pmm' was not searched for leaks, which --sort is about
  pmm: hint: run the program with 'pmm run --leaks'
[3]
$ pmm diff --trend --thread none h1.pmm h2.pmm h3.pmm
  pmm: no thread matches 'none'
  pmm: hint: the report without --thread lists the threads
[3]
# forms
$ pmm diff --format pprof base.pmm new.pmm
  pmm: 'pmm diff' has no '--format pprof'
  pmm: hint: it is a form of 'pmm report', 'pmm kmod report'; this command has text, json, html
[2]
$ pmm diff --format html --trend h1.pmm h2.pmm h3.pmm
  pmm: '--trend' has no '--format html'
  pmm: hint: it has text and json
[2]
$ pmm diff -o x base.pmm new.pmm
  pmm: '-o' is for '--format html' only
  pmm: hint: others go to standard output
[2]
$ pmm diff --json --format text base.pmm new.pmm
  pmm: '--json' and '--format' contradict each other
  pmm: hint: leave out one of them
[2]
