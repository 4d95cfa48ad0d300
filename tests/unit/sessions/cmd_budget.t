# SPDX-License-Identifier: GPL-2.0-or-later
# 14 blocks of 10,200 bytes live, 17 calls for 22,488 bytes; the peak is what is live.
$ printf '%s\n' 'process comm=app exe=/opt/app-2 cmdline="app --fast x"' 'module app build-id=11' 'module libx.so.1 build-id=22' 'site app+0x10>app+0x20 allocs=10 size=1000' 'site app+0x10>app+0x30 allocs=4 size=50' 'site app+0x10>libx.so.1+0x40 allocs=3 frees=3 size=4K temporary=2' >app
$ mkcapture app app.pmm
# kept, to the byte
$ printf '%s\n' '# of the program' '[app]' 'peak = 10200' 'live_at_end=10200 ; at the end' 'allocated=22488' 'allocations = 17' 'temporary = 2' '  module.libx.so*.allocated = 12K' 'module.libx.so*.live_at_end = 0' 'module.liby.so.peak = 0' >.pmm-budget
$ pmm budget app.pmm
    kept  app.pmm [app] peak: 9.96 KiB of 9.96 KiB
    kept  app.pmm [app] live_at_end: 9.96 KiB of 9.96 KiB
    kept  app.pmm [app] allocated: 22.0 KiB of 22.0 KiB
    kept  app.pmm [app] allocations: 17 of 17
    kept  app.pmm [app] temporary: 2 of 2
    kept  app.pmm [app] module.libx.so*.allocated: 12.0 KiB of 12.0 KiB
    kept  app.pmm [app] module.libx.so*.live_at_end: 0 B of 0 B
    kept  app.pmm [app] module.liby.so.peak: 0 B of 0 B (no stack has a module 'liby.so')
  
    budgets  8 kept, 0 exceeded, 0 not measured, of 8
# exceeded, by one
$ printf '%s\n' '[a?p]' 'peak = 10199' '[app-*]' 'allocations = 16' '[app --fast*]' 'module.libx.so.1.temporary = 1' 'live_at_end = 1M' >over
$ pmm budget -f over app.pmm
    exceeded  app.pmm [a?p] peak: 9.96 KiB, 1 B (<0.1%) over 9.96 KiB
                9.77 KiB in app+0x20
                  app+0x10
                200 B in app+0x30
                  app+0x10
    exceeded  app.pmm [app-*] allocations: 17, 1 (6.2%) over 16
                10 in app+0x20
                  app+0x10
                4 in app+0x30
                  app+0x10
                3 in libx.so.1+0x40
                  app+0x10
    exceeded  app.pmm [app --fast*] module.libx.so.1.temporary: 2, 1 over 1
                2 in libx.so.1+0x40
                  app+0x10
    kept      app.pmm [app --fast*] live_at_end: 9.96 KiB of 1.00 MiB
  
    budgets  1 kept, 3 exceeded, 0 not measured, of 4
[1]
$ pmm budget -f over --json app.pmm >over.json; jq -c '.totals, (.budgets[] | [.state, .section, .key, .unit, .limit, .value, .budget_line, (.stacks | length)])' over.json
  {"kept":1,"exceeded":3,"not_measured":0}
  ["exceeded","a?p","peak","bytes",10199,10200,2,2]
  ["exceeded","app-*","allocations","count",16,17,4,3]
  ["exceeded","app --fast*","module.libx.so.1.temporary","count",1,2,6,1]
  ["kept","app --fast*","live_at_end","bytes",1048576,10200,7,0]
$ pmm budget -f over --format junit app.pmm | grep -c '<testcase'
  4
$ pmm budget -f over --format sarif app.pmm | jq -c '.runs[0].results[] | [.ruleId, .message.text, (.partialFingerprints | length)]'
  ["budget-peak","app.pmm: peak: 9.96 KiB, 1 B (<0.1%) over 9.96 KiB",1]
  ["budget-allocations","app.pmm: allocations: 17, 1 (6.2%) over 16",1]
  ["budget-temporary","app.pmm: module.libx.so.1.temporary: 2, 1 over 1",1]
# functions without names: more may belong to it
$ printf '%s\n' '[app]' 'function.parse.peak = 1K' >functions; pmm budget -f functions app.pmm
    not measured  app.pmm [app] function.parse.peak: none that was recorded (1.00 KiB allowed): 9.96 KiB more may belong to it: stacks are not known, or functions have no names
  
    budgets  0 kept, 0 exceeded, 1 not measured, of 1
[3]
$ printf '%s\n' '[app]' 'function.parse.peak = 10200' >functions; pmm budget -f functions app.pmm
    kept  app.pmm [app] function.parse.peak: 0 B of 9.96 KiB (no stack has a function 'parse')
  
    budgets  1 kept, 0 exceeded, 0 not measured, of 1
# what was not measured is no pass
$ printf '%s\n' '[app]' 'leaked = 0' >leaked; pmm budget -f leaked app.pmm
    not measured  app.pmm [app] leaked: no figure (0 B allowed): it was not searched for leaks (pmm run --leaks)
  
    budgets  0 kept, 0 exceeded, 1 not measured, of 1
[3]
$ (cat app; echo 'search exit complete'; echo 'leak app+0x10>app+0x20 definite blocks=2 bytes=2000'; echo 'leak app+0x10>app+0x30 indirect blocks=1 bytes=50'; echo 'leak app+0x10>app+0x30 reachable blocks=3 bytes=150') >app2; mkcapture app2 app2.pmm
$ pmm budget -f leaked app2.pmm
    exceeded  app2.pmm [app] leaked: 2.00 KiB, 2.00 KiB over 0 B
                1.95 KiB in app+0x20
                  app+0x10
                50 B in app+0x30
                  app+0x10
  
    budgets  0 kept, 1 exceeded, 0 not measured, of 1
[1]
# what pmm leaks would not report does not count, and is counted apart; indirect ones go with their definite ones
$ (cat app; echo 'search exit complete'; echo 'leak app+0x10>app+0x20 definite blocks=2 bytes=2000'; echo 'leak app+0x10>libx.so.1+0x40 definite blocks=1 bytes=300'; echo 'leak app+0x10>app+0x30 indirect blocks=2 bytes=100 holder=app+0x10>libx.so.1+0x40'; echo 'leak app+0x10>app+0x30 reachable blocks=1 bytes=50') >app3; mkcapture app3 app3.pmm; echo 'leak:libx.so' >my.supp; printf '%s\n' '[app]' 'leaked = 2000' 'module.app.leaked = 2099' >leaked3
$ pmm budget -f leaked3 app3.pmm
    exceeded  app3.pmm [app] leaked: 2.34 KiB, 400 B (20.0%) over 1.95 KiB
                1.95 KiB in app+0x20
                  app+0x10
                300 B in libx.so.1+0x40
                  app+0x10
                100 B in app+0x30
                  app+0x10
    exceeded  app3.pmm [app] module.app.leaked: 2.34 KiB, 301 B (14.3%) over 2.05 KiB
                1.95 KiB in app+0x20
                  app+0x10
                300 B in libx.so.1+0x40
                  app+0x10
                100 B in app+0x30
                  app+0x10
  
    budgets  0 kept, 2 exceeded, 0 not measured, of 2
[1]
$ pmm budget -f leaked3 --suppressions my.supp app3.pmm
  pmm: 'app3.pmm': 400 bytes in 3 blocks that were lost are suppressed
    kept  app3.pmm [app] leaked: 1.95 KiB of 1.95 KiB (400 bytes in 3 blocks suppressed)
    kept  app3.pmm [app] module.app.leaked: 1.95 KiB of 2.05 KiB
  
    budgets  2 kept, 0 exceeded, 0 not measured, of 2
$ pmm budget -f leaked3 --suppressions my.supp --json app3.pmm 2>said | jq -c '.budgets[] | [.key, .state, .value, .suppressed_bytes, .suppressed_blocks]'
  ["leaked","kept",2000,400,3]
  ["module.app.leaked","kept",2000,null,null]
$ pmm budget -f leaked3 --suppressions my.supp --format junit app3.pmm 2>said | grep -c '400 bytes in 3 blocks suppressed'
  1
$ pmm leaks --suppressions my.supp --json app3.pmm | jq -c '.totals | map([.class, .bytes])'
  [["definite",2000],["indirect",0],["possible",0],["reachable",50],["suppressed",400]]
$ pmm budget -f leaked3 --suppressions none.supp app3.pmm
  pmm: cannot read the suppressions in 'none.supp': No such file or directory
  pmm: hint: name a file in Valgrind's or LeakSanitizer's form; 'pmm leaks --gen-suppressions' writes one
[3]
# nor is a search that did not see all memory; what it found is lost all the same
$ echo '[app]' >leaked1; echo 'leaked = 1' >>leaked1; echo 'peak = 1M' >>leaked1
$ for search in 'exit' 'exit complete unread=4K' 'exit complete'; do (cat app; echo "search $search") >gap; mkcapture gap gap.pmm; pmm budget -f leaked1 gap.pmm; echo "status $?"; done
    not measured  gap.pmm [app] leaked: none that was recorded (1 B allowed): the search for leaks did not see all memory
    kept          gap.pmm [app] peak: 9.96 KiB of 1.00 MiB
  
    budgets  1 kept, 0 exceeded, 1 not measured, of 2
  status 3
    not measured  gap.pmm [app] leaked: none that was recorded (1 B allowed): the search for leaks did not see all memory
    kept          gap.pmm [app] peak: 9.96 KiB of 1.00 MiB
  
    budgets  1 kept, 0 exceeded, 1 not measured, of 2
  status 3
    kept  gap.pmm [app] leaked: 0 B of 1 B
    kept  gap.pmm [app] peak: 9.96 KiB of 1.00 MiB
  
    budgets  2 kept, 0 exceeded, 0 not measured, of 2
  status 0
$ (cat app; echo 'search exit'; echo 'leak app+0x10>app+0x20 definite blocks=2 bytes=2000') >gap; mkcapture gap gap.pmm; pmm budget -f leaked gap.pmm >said
[1]
$ echo '[other]' >unmet; echo 'peak = 1M' >>unmet; pmm budget -f unmet app.pmm
  pmm: 'app.pmm': 'unmet' has no section about 'app'
    not measured  [other] peak: no figure (1.00 MiB allowed): no capture is of 'other'
  
    budgets  0 kept, 0 exceeded, 1 not measured, of 1
  pmm: WARNING: unmet:2: no capture is of 'other': its budgets were not measured
[3]
$ pmm budget -f unmet --json app.pmm 2>said | jq -c '.totals, .budgets'
  {"kept":0,"exceeded":0,"not_measured":1}
  [{"state":"not_measured","capture":"","section":"other","key":"peak","unit":"bytes","limit":1048576,"why":"no capture is of 'other'","budget_line":2,"stacks":[]}]
$ pmm budget -f unmet --format junit app.pmm 2>said | grep -o 'errors="[0-9]*"\|unmet: peak: [^"]*' | sort -u
  errors="1"
  unmet: peak: no figure (1.00 MiB allowed): no capture is of &apos;other&apos;
$ pmm budget -f unmet --format sarif app.pmm 2>said | jq -c '.runs[0] | .results, [.invocations[0].toolExecutionNotifications[] | [.level, .message.text]], .invocations[0].executionSuccessful'
  []
  [["error","[other] peak: unmet: peak: no figure (1.00 MiB allowed): no capture is of 'other'"]]
  false
$ printf '%s\n' '[app]' 'peak = 1M' 'allocations = 3' >gaps
$ for line in 'watch mode=sampled sample=4K' 'drop block-full=3' 'watch off=3' 'process end=running' 'process attached' 'totals skipped=3'; do (cat app; echo "$line") >gap; mkcapture gap gap.pmm; pmm budget -f gaps gap.pmm; echo "status $?"; done
    not measured  gap.pmm [app] peak: no figure (1.00 MiB allowed): figures are estimates, as it was sampled
    not measured  gap.pmm [app] allocations: no figure (3 allowed): figures are estimates, as it was sampled
  
    budgets  0 kept, 0 exceeded, 2 not measured, of 2
  status 3
    not measured  gap.pmm [app] peak: at least 9.96 KiB (1.00 MiB allowed): not all blocks and stacks were recorded
    exceeded      gap.pmm [app] allocations: 17, 14 over 3
                    10 in app+0x20
                      app+0x10
                    4 in app+0x30
                      app+0x10
                    3 in libx.so.1+0x40
                      app+0x10
  
    budgets  0 kept, 1 exceeded, 1 not measured, of 2
  status 1
    not measured  gap.pmm [app] peak: at least 9.96 KiB (1.00 MiB allowed): recording stopped before the end
    exceeded      gap.pmm [app] allocations: 17, 14 over 3
                    10 in app+0x20
                      app+0x10
                    4 in app+0x30
                      app+0x10
                    3 in libx.so.1+0x40
                      app+0x10
  
    budgets  0 kept, 1 exceeded, 1 not measured, of 2
  status 1
    not measured  gap.pmm [app] peak: at least 9.96 KiB (1.00 MiB allowed): the program had not ended when it was captured
    exceeded      gap.pmm [app] allocations: 17, 14 over 3
                    10 in app+0x20
                      app+0x10
                    4 in app+0x30
                      app+0x10
                    3 in libx.so.1+0x40
                      app+0x10
  
    budgets  0 kept, 1 exceeded, 1 not measured, of 2
  status 1
    not measured  gap.pmm [app] peak: at least 9.96 KiB (1.00 MiB allowed): what was allocated before it was attached to is not known
    exceeded      gap.pmm [app] allocations: 17, 14 over 3
                    10 in app+0x20
                      app+0x10
                    4 in app+0x30
                      app+0x10
                    3 in libx.so.1+0x40
                      app+0x10
  
    budgets  0 kept, 1 exceeded, 1 not measured, of 2
  status 1
    not measured  gap.pmm [app] peak: at least 9.96 KiB (1.00 MiB allowed): blocks below --min-size were not recorded
    exceeded      gap.pmm [app] allocations: 17, 14 over 3
                    10 in app+0x20
                      app+0x10
                    4 in app+0x30
                      app+0x10
                    3 in libx.so.1+0x40
                      app+0x10
  
    budgets  0 kept, 1 exceeded, 1 not measured, of 2
  status 1
# a stack that was not kept matters to functions and modules only
$ (cat app; echo 'drop site-full=3') >gap; mkcapture gap gap.pmm; pmm budget gap.pmm
    kept          gap.pmm [app] peak: 9.96 KiB of 9.96 KiB
    kept          gap.pmm [app] live_at_end: 9.96 KiB of 9.96 KiB
    kept          gap.pmm [app] allocated: 22.0 KiB of 22.0 KiB
    kept          gap.pmm [app] allocations: 17 of 17
    kept          gap.pmm [app] temporary: 2 of 2
    not measured  gap.pmm [app] module.libx.so*.allocated: at least 12.0 KiB (12.0 KiB allowed): not all blocks and stacks were recorded
    not measured  gap.pmm [app] module.libx.so*.live_at_end: none that was recorded (0 B allowed): not all blocks and stacks were recorded
    not measured  gap.pmm [app] module.liby.so.peak: none that was recorded (0 B allowed): not all blocks and stacks were recorded
  
    budgets  5 kept, 0 exceeded, 3 not measured, of 8
[3]
# two captures
$ pmm budget -f gaps app.pmm app2.pmm
    kept      app.pmm [app] peak: 9.96 KiB of 1.00 MiB
    exceeded  app.pmm [app] allocations: 17, 14 over 3
                10 in app+0x20
                  app+0x10
                4 in app+0x30
                  app+0x10
                3 in libx.so.1+0x40
                  app+0x10
    kept      app2.pmm [app] peak: 9.96 KiB of 1.00 MiB
    exceeded  app2.pmm [app] allocations: 17, 14 over 3
                10 in app+0x20
                  app+0x10
                4 in app+0x30
                  app+0x10
                3 in libx.so.1+0x40
                  app+0x10
  
    budgets  2 kept, 2 exceeded, 0 not measured, of 4
[1]
# the finding is the same in another run, in which another stack is the largest; which capture comes first does not matter
$ sed 's/^process .*/process comm=helper/; s/size=50/size=5000/' app >helper; mkcapture helper helper.pmm; printf '%s\n' '[*]' 'peak = 1K' '[app]' 'allocations = 3' >both
$ pmm budget -f both --format sarif app.pmm helper.pmm | jq -c '.runs[0] | .automationDetails.id, .invocations[0].properties.program, (.results[] | [.properties.title, .partialFingerprints, .locations[0].physicalLocation.artifactLocation.uri, .locations[0].physicalLocation.region.startLine])'
  "pmm/budget/both/"
  "app, helper"
  ["[*] peak: app",{"budget/v1":"899a1836c78031ec:1"},"both",2]
  ["[app] allocations",{"budget/v1":"ef875d704b62be3b:1"},"both",4]
  ["[*] peak: helper",{"budget/v1":"47453a0ed6703ecd:1"},"both",2]
$ sed 's/size=50/size=5000/' app >app4; mkcapture app4 app4.pmm; pmm budget -f both --format sarif helper.pmm app4.pmm | jq -c '.runs[0] | .automationDetails.id, .invocations[0].properties.program, (.results[] | [.properties.title, .partialFingerprints])'
  "pmm/budget/both/"
  "helper, app"
  ["[*] peak: helper",{"budget/v1":"47453a0ed6703ecd:1"}]
  ["[*] peak: app",{"budget/v1":"899a1836c78031ec:1"}]
  ["[app] allocations",{"budget/v1":"ef875d704b62be3b:1"}]
$ pmm budget -f both --format junit app.pmm helper.pmm app4.pmm | grep -o '<testsuite name="[^"]*"\|<testcase .*" name="[^"]*"'
  <testsuite name="pmm budget: both"
  <testcase classname="pmm.budget.budget-peak" name="[*] peak: app"
  <testcase classname="pmm.budget.budget-allocations" name="[app] allocations"
  <testcase classname="pmm.budget.budget-peak" name="[*] peak: helper"
  <testcase classname="pmm.budget.budget-peak" name="[*] peak: app #2"
  <testcase classname="pmm.budget.budget-allocations" name="[app] allocations #2"
# a running program: what is live now is not what is live at its end; a peak that is exceeded stays so
$ (cat app; echo 'process end=running') >gap; mkcapture gap gap.pmm; printf '%s\n' '[app]' 'live_at_end = 10199' 'peak = 10199' >now; pmm budget -f now gap.pmm
    not measured  gap.pmm [app] live_at_end: no figure (9.96 KiB allowed): the program had not ended when it was captured
    exceeded      gap.pmm [app] peak: 9.96 KiB, 1 B (<0.1%) over 9.96 KiB
                    9.77 KiB in app+0x20
                      app+0x10
                    200 B in app+0x30
                      app+0x10
  
    budgets  0 kept, 1 exceeded, 1 not measured, of 2
[1]
$ (cat app; echo 'watch off=3') >gap; mkcapture gap gap.pmm; pmm budget -f now gap.pmm >out; echo $?; cat out
  1
    not measured  gap.pmm [app] live_at_end: no figure (9.96 KiB allowed): recording stopped before the end
    exceeded      gap.pmm [app] peak: 9.96 KiB, 1 B (<0.1%) over 9.96 KiB
                    9.77 KiB in app+0x20
                      app+0x10
                    200 B in app+0x30
                      app+0x10
  
    budgets  0 kept, 1 exceeded, 1 not measured, of 2
$ pmm budget -f now --json gap.pmm | jq -c '.budgets[] | [.state, .value, .why]'
  ["not_measured",null,"recording stopped before the end"]
  ["exceeded",10200,null]
# profiles of other tools: of one moment, and over the program's life
$ printf '%s\n' 'heap profile:     10:    10240 [    20:    20480] @ heapprofile' '  10:    10240 [    20:    20480] @ 0x401136' '' 'MAPPED_LIBRARIES:' '00401000-00402000 r-xp 00001000 08:01 1 /opt/app' >prof.heap
$ printf '%s\n' '[*]' 'peak = 1K' 'live_at_end = 1K' 'allocated = 1K' 'leaked = 0' >any; pmm budget -f any prof.heap
    not measured  prof.heap [*] peak: no figure (1.00 KiB allowed): it is another tool's profile of one moment
    not measured  prof.heap [*] live_at_end: no figure (1.00 KiB allowed): it is another tool's profile of one moment
    not measured  prof.heap [*] allocated: no figure (1.00 KiB allowed): it is another tool's profile of one moment
    not measured  prof.heap [*] leaked: no figure (0 B allowed): another tool's profile has no search for leaks
  
    budgets  0 kept, 0 exceeded, 4 not measured, of 4
[3]
$ pmm budget -f any --format junit prof.heap | grep -c '<error'
  4
# comments are as libinih has them; what else follows a limit or a section is refused
$ printf '%s\n' '; one' '# two' '[app] ; three' ' # four' 'peak = 10200 ; five' 'allocations = 17	;six' >notes; pmm budget -f notes app.pmm
    kept  app.pmm [app] peak: 9.96 KiB of 9.96 KiB
    kept  app.pmm [app] allocations: 17 of 17
  
    budgets  2 kept, 0 exceeded, 0 not measured, of 2
$ for text in '[app]\npeak = 1M # note' '[app]\npeak = 1M;note' '[app]\npeak = 1 M' '[app]\nallocations = 5 per run' '[app] # note\npeak = 1M' '[app]x\npeak = 1M'; do printf "$text\n" >bad; pmm budget -f bad app.pmm; echo "status $?"; done
  pmm: bad:2: there is more than a limit: '1M # note'
  pmm: hint: a comment in the same line begins with a blank and ';'; see doc/budget.md
  status 3
  pmm: bad:2: there is more than a limit: '1M;note'
  pmm: hint: a comment in the same line begins with a blank and ';'; see doc/budget.md
  status 3
  pmm: bad:2: there is more than a limit: '1 M'
  pmm: hint: a comment in the same line begins with a blank and ';'; see doc/budget.md
  status 3
  pmm: bad:2: there is more than a limit: '5 per run'
  pmm: hint: a comment in the same line begins with a blank and ';'; see doc/budget.md
  status 3
  pmm: bad:1: there is more than a section: '[app] # note'
  pmm: hint: a comment in the same line begins with a blank and ';'; see doc/budget.md
  status 3
  pmm: bad:1: there is more than a section: '[app]x'
  pmm: hint: a comment in the same line begins with a blank and ';'; see doc/budget.md
  status 3
# files that are none
$ pmm budget -f missing app.pmm
  pmm: cannot open 'missing': No such file or directory
  pmm: hint: name the file of budgets with -f, or make one as doc/budget.md says
[3]
$ for text in 'peak = 1M' '[app]\npeek = 1M' '[app]\npeak = 1M\n\npeak = 2M' '[app]\npeak = 1X' '[app]\npeak = -1' '[app]\npeak =' '[app]\nallocations = 1M' '[app]\nfunction..peak = 1' '[app]\nfunction.peak = 1' '[app]\nfunction.f.speed = 1' '[app]\nhello' '[app\npeak = 1' '' '[app]'; do printf "$text\n" >bad; pmm budget -f bad app.pmm; echo "status $?"; done
  pmm: bad:1: no [section] that names a program is above 'peak'
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
  status 3
  pmm: bad:2: no budget is called 'peek'
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
  status 3
  pmm: bad:4: given twice: 'peak'
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
  status 3
  pmm: bad:2: no size, as in 4096, 64K or 2M: '1X'
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
  status 3
  pmm: bad:2: no size, as in 4096, 64K or 2M: '-1'
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
  status 3
  pmm: bad:2: no size, as in 4096, 64K or 2M: ''
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
  status 3
  pmm: bad:2: no number: '1M'
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
  status 3
  pmm: bad:2: no budget is called 'function..peak'
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
  status 3
  pmm: bad:2: no budget is called 'function.peak'
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
  status 3
  pmm: bad:2: no budget is called 'function.f.speed'
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
  status 3
  pmm: bad:2: neither a [section] nor NAME = LIMIT: 'hello'
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
  status 3
  pmm: bad:1: a section ends with ']': '[app'
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
  status 3
  pmm: 'bad' has no budget
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
  status 3
  pmm: 'bad' has no budget
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
  status 3
$ (echo '[app]'; printf 'peak = 1%200s\n' M) >bad; pmm budget -f bad app.pmm
  pmm: bad:2: the line is too long: '...'
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
[3]
$ printf '[app]\npeak = 1M\n\0' >bad; pmm budget -f bad app.pmm
  pmm: 'bad' is no file of budgets: it is too long, or no text
[3]
# names of C++ have colons
$ printf '%s\n' '[app]' 'function.ns::parse.peak = 10K' 'function.ns::parse.peak = 10K' >bad; pmm budget -f bad app.pmm
  pmm: bad:3: given twice: 'function.ns::parse.peak'
  pmm: hint: as in '[app]' and 'peak = 20M' below it; see doc/budget.md
[3]
# usage
$ pmm budget
  pmm: 'pmm budget' needs an argument
  pmm: hint: usage: pmm budget [options] FILE|PID...
[2]
$ pmm budget missing.pmm
  pmm: cannot open 'missing.pmm': No such file or directory
  pmm: hint: give the name of a capture or the number of a tracked process
[3]
$ pmm budget --format pprof app.pmm
  pmm: 'pmm budget' has no '--format pprof'
  pmm: hint: it is a form of 'pmm report', 'pmm kmod report'; this command has text, json, sarif, junit
[2]
