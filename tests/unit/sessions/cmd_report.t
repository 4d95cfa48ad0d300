# SPDX-License-Identifier: GPL-2.0-or-later
# What follows from the recipes by hand is in tests/cli/report.bats; here is every character of the forms.
$ for r in demo tree leaks check; do mkcapture $SOURCE/tests/cli/golden/$r.recipe $r.pmm; done
$ pmm report demo.pmm
  demo --fast input.txt
    process  demo, pid 4242, ran 20.0 s from 2023-11-14 22:13:20, exited with status 3
    peak     1.09 MiB after 10.0 s
    live     94.1 KiB in 109 blocks at the end
    mapped   128 KiB of address space in 2 mappings by mmap, beside the heap
    calls    155 allocations of 2.10 MiB (8/s), 46 frees; 19.4% temporary, mean 13.9 KiB
    unusual  1 failed, 1 of size zero
    mode     exact: every call
  
  Live bytes over time
    1.09 MiB │                                                 █████████████████████████
             │                                                 █████████████████████████
             │                                                 █████████████████████████
             │                                                 █████████████████████████
     559 KiB │                                                 █████████████████████████
             │                                                 █████████████████████████
             │                        ▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃█████████████████████████
           0 │                        ██████████████████████████████████████████████████▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆
                                                               ^ peak 1.09 MiB at 10.0 s
              0 s                                                                                         20.0 s
  
  Lines by bytes at the peak
     at peak  share  blocks  stacks  line
    1.00 MiB  91.6%       1       1  big+0x10
    93.8 KiB   8.4%      96       1  libxalloc.so+0x10
       320 B  <0.1%      10       1  names+0x10
        24 B  <0.1%       3       1  [stack unknown]
  
  Stacks by bytes at the peak
     at peak  share  blocks  stack
    1.00 MiB  91.6%       1  big+0x10
                               2 calls, 2.00 MiB, mean 1.00 MiB, max 1.00 MiB
                               allocated from 4.00 s to 9.00 s; 2 freed, median lifetime under 1.28 s
                               1 failed
                               main+0x10
    93.8 KiB   8.4%      96  libxalloc.so+0x10
                               100 calls, 97.7 KiB, mean 1000 B, max 1000 B
                               allocated from 2.00 s to 12.0 s; 4 freed, median lifetime under 5.12 s
                               via libc.so.6+0x98765
                               parse+0x10
                               load+0x10
                               main+0x10
       320 B  <0.1%      10  names+0x10
                               50 calls, 1.56 KiB, mean 32 B, max 32 B, 60.0% temporary
                               allocated from 1.00 s to 19.0 s; 40 freed, median lifetime under 10 ms
                               load+0x10
                               main+0x10
        24 B  <0.1%       3  [stack unknown]
                               3 calls, 24 B, mean 8 B, max 8 B
                               allocated after 500 ms
                               1 of size zero
  
  Stacks of mmap by bytes mapped
       live  share  blocks  stack
    128 KiB   100%       2  map+0x10
                              main+0x10
  
  Sizes of requests (bytes)
    size       malloc  calloc  realloc  free  allocated     freed    in use  failed
    <=16            3       -        -     -       24 B         -      24 B       -
    <=256          50       -        -    40   1.56 KiB  1.25 KiB     320 B       -
    <=1024          -     100        -     4   97.7 KiB  3.91 KiB  93.8 KiB       -
    larger          -       -        2     2   2.00 MiB  2.00 MiB         -       1
    total          53     100        2    46   2.10 MiB  2.01 MiB  94.1 KiB       1
    untracked                              7
    untracked: frees of blocks that pmm did not see being made
  
  Lifetimes of freed blocks
    lived from      to  frees  share
           0 s   10 ms     30  65.2%  ########################################
         20 ms   40 ms     10  21.7%  #############
        640 ms  1.28 s      2   4.3%  ###
        2.56 s  5.12 s      4   8.7%  #####
  
  Memory around it
    allocator  libc.so.6: 1.03 MiB from the system, 100 KiB used, 956 KiB free in 12 chunks
               132 KiB more in 1 chunk of mmap; 64 B in 2 chunks of the fast lists; 512 KiB at the top
    mappings   mmap 3 calls, 192 KiB, 2 failed; munmap 1 call, 64.0 KiB
               mremap 4 calls, 128 KiB grown, 64.0 KiB shrunk
               brk 5 calls, grown by 1.03 MiB, at most 2.00 MiB
    ledger     2.00 MiB of at most 64.0 MiB; 109 of 4,096 slots used
  
  Threads by bytes allocated
     tid  thread  alive   since  allocs  frees  allocated     freed
    4242  main                -      55     42   2.00 MiB  2.00 MiB
    4243  worker         2.00 s     100      4   97.7 KiB  3.91 KiB
  
  Modules without names for what is shown above (install their -dbgsym packages, or use --debuginfod)
    module
    main
    load
    parse
    libxalloc.so
    /lib/demo/libc.so.6
    names
    big
    map
$ pmm report --sort live demo.pmm
  demo --fast input.txt
    process  demo, pid 4242, ran 20.0 s from 2023-11-14 22:13:20, exited with status 3
    peak     1.09 MiB after 10.0 s
    live     94.1 KiB in 109 blocks at the end
    mapped   128 KiB of address space in 2 mappings by mmap, beside the heap
    calls    155 allocations of 2.10 MiB (8/s), 46 frees; 19.4% temporary, mean 13.9 KiB
    unusual  1 failed, 1 of size zero
    mode     exact: every call
  
  Live bytes over time
    1.09 MiB │                                                 █████████████████████████
             │                                                 █████████████████████████
             │                                                 █████████████████████████
             │                                                 █████████████████████████
     559 KiB │                                                 █████████████████████████
             │                                                 █████████████████████████
             │                        ▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃█████████████████████████
           0 │                        ██████████████████████████████████████████████████▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆
                                                               ^ peak 1.09 MiB at 10.0 s
              0 s                                                                                         20.0 s
  
  Lines by live bytes
        live  share  blocks  stacks  line
    93.8 KiB  99.6%      96       1  libxalloc.so+0x10
       320 B   0.3%      10       1  names+0x10
        24 B  <0.1%       3       1  [stack unknown]
  
  Stacks by live bytes
        live  share  blocks  stack
    93.8 KiB  99.6%      96  libxalloc.so+0x10
                               100 calls, 97.7 KiB, mean 1000 B, max 1000 B
                               allocated from 2.00 s to 12.0 s; 4 freed, median lifetime under 5.12 s
                               via libc.so.6+0x98765
                               parse+0x10
                               load+0x10
                               main+0x10
       320 B   0.3%      10  names+0x10
                               50 calls, 1.56 KiB, mean 32 B, max 32 B, 60.0% temporary
                               allocated from 1.00 s to 19.0 s; 40 freed, median lifetime under 10 ms
                               load+0x10
                               main+0x10
        24 B  <0.1%       3  [stack unknown]
                               3 calls, 24 B, mean 8 B, max 8 B
                               allocated after 500 ms
                               1 of size zero
  
  Stacks of mmap by bytes mapped
       live  share  blocks  stack
    128 KiB   100%       2  map+0x10
                              main+0x10
  
  Sizes of requests (bytes)
    size       malloc  calloc  realloc  free  allocated     freed    in use  failed
    <=16            3       -        -     -       24 B         -      24 B       -
    <=256          50       -        -    40   1.56 KiB  1.25 KiB     320 B       -
    <=1024          -     100        -     4   97.7 KiB  3.91 KiB  93.8 KiB       -
    larger          -       -        2     2   2.00 MiB  2.00 MiB         -       1
    total          53     100        2    46   2.10 MiB  2.01 MiB  94.1 KiB       1
    untracked                              7
    untracked: frees of blocks that pmm did not see being made
  
  Lifetimes of freed blocks
    lived from      to  frees  share
           0 s   10 ms     30  65.2%  ########################################
         20 ms   40 ms     10  21.7%  #############
        640 ms  1.28 s      2   4.3%  ###
        2.56 s  5.12 s      4   8.7%  #####
  
  Memory around it
    allocator  libc.so.6: 1.03 MiB from the system, 100 KiB used, 956 KiB free in 12 chunks
               132 KiB more in 1 chunk of mmap; 64 B in 2 chunks of the fast lists; 512 KiB at the top
    mappings   mmap 3 calls, 192 KiB, 2 failed; munmap 1 call, 64.0 KiB
               mremap 4 calls, 128 KiB grown, 64.0 KiB shrunk
               brk 5 calls, grown by 1.03 MiB, at most 2.00 MiB
    ledger     2.00 MiB of at most 64.0 MiB; 109 of 4,096 slots used
  
  Threads by bytes allocated
     tid  thread  alive   since  allocs  frees  allocated     freed
    4242  main                -      55     42   2.00 MiB  2.00 MiB
    4243  worker         2.00 s     100      4   97.7 KiB  3.91 KiB
  
  Modules without names for what is shown above (install their -dbgsym packages, or use --debuginfod)
    module
    main
    load
    parse
    libxalloc.so
    /lib/demo/libc.so.6
    names
    map
$ pmm report --sort allocated --top 2 --no-symbols demo.pmm
  demo --fast input.txt
    process  demo, pid 4242, ran 20.0 s from 2023-11-14 22:13:20, exited with status 3
    peak     1.09 MiB after 10.0 s
    live     94.1 KiB in 109 blocks at the end
    mapped   128 KiB of address space in 2 mappings by mmap, beside the heap
    calls    155 allocations of 2.10 MiB (8/s), 46 frees; 19.4% temporary, mean 13.9 KiB
    unusual  1 failed, 1 of size zero
    mode     exact: every call
  
  Live bytes over time
    1.09 MiB │                                                 █████████████████████████
             │                                                 █████████████████████████
             │                                                 █████████████████████████
             │                                                 █████████████████████████
     559 KiB │                                                 █████████████████████████
             │                                                 █████████████████████████
             │                        ▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃█████████████████████████
           0 │                        ██████████████████████████████████████████████████▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆
                                                               ^ peak 1.09 MiB at 10.0 s
              0 s                                                                                         20.0 s
  
  Lines by bytes allocated
    allocated  share  calls  stacks  line
     2.00 MiB  95.4%      2       1  big+0x10
     97.7 KiB   4.5%    100       1  libxalloc.so+0x10
  
  Stacks by bytes allocated
    allocated  share  calls  stack
     2.00 MiB  95.4%      2  big+0x10
                               2 calls, 2.00 MiB, mean 1.00 MiB, max 1.00 MiB
                               allocated from 4.00 s to 9.00 s; 2 freed, median lifetime under 1.28 s
                               1 failed
                               main+0x10
     97.7 KiB   4.5%    100  libxalloc.so+0x10
                               100 calls, 97.7 KiB, mean 1000 B, max 1000 B
                               allocated from 2.00 s to 12.0 s; 4 freed, median lifetime under 5.12 s
                               via libc.so.6+0x98765
                               parse+0x10
                               load+0x10
                               main+0x10
    2 more stacks (--top 0 shows all)
  
  Stacks of mmap by bytes mapped
       live  share  blocks  stack
    128 KiB   100%       2  map+0x10
                              main+0x10
  
  Sizes of requests (bytes)
    size       malloc  calloc  realloc  free  allocated     freed    in use  failed
    <=16            3       -        -     -       24 B         -      24 B       -
    <=256          50       -        -    40   1.56 KiB  1.25 KiB     320 B       -
    <=1024          -     100        -     4   97.7 KiB  3.91 KiB  93.8 KiB       -
    larger          -       -        2     2   2.00 MiB  2.00 MiB         -       1
    total          53     100        2    46   2.10 MiB  2.01 MiB  94.1 KiB       1
    untracked                              7
    untracked: frees of blocks that pmm did not see being made
  
  Lifetimes of freed blocks
    lived from      to  frees  share
           0 s   10 ms     30  65.2%  ########################################
         20 ms   40 ms     10  21.7%  #############
        640 ms  1.28 s      2   4.3%  ###
        2.56 s  5.12 s      4   8.7%  #####
  
  Memory around it
    allocator  libc.so.6: 1.03 MiB from the system, 100 KiB used, 956 KiB free in 12 chunks
               132 KiB more in 1 chunk of mmap; 64 B in 2 chunks of the fast lists; 512 KiB at the top
    mappings   mmap 3 calls, 192 KiB, 2 failed; munmap 1 call, 64.0 KiB
               mremap 4 calls, 128 KiB grown, 64.0 KiB shrunk
               brk 5 calls, grown by 1.03 MiB, at most 2.00 MiB
    ledger     2.00 MiB of at most 64.0 MiB; 109 of 4,096 slots used
  
  Threads by bytes allocated
     tid  thread  alive   since  allocs  frees  allocated     freed
    4242  main                -      55     42   2.00 MiB  2.00 MiB
    4243  worker         2.00 s     100      4   97.7 KiB  3.91 KiB
  
  Modules without names for what is shown above (install their -dbgsym packages, or use --debuginfod)
    module
    main
    load
    parse
    libxalloc.so
    /lib/demo/libc.so.6
    names
    big
    map
$ pmm report --sort calls --top 1 demo.pmm
  demo --fast input.txt
    process  demo, pid 4242, ran 20.0 s from 2023-11-14 22:13:20, exited with status 3
    peak     1.09 MiB after 10.0 s
    live     94.1 KiB in 109 blocks at the end
    mapped   128 KiB of address space in 2 mappings by mmap, beside the heap
    calls    155 allocations of 2.10 MiB (8/s), 46 frees; 19.4% temporary, mean 13.9 KiB
    unusual  1 failed, 1 of size zero
    mode     exact: every call
  
  Live bytes over time
    1.09 MiB │                                                 █████████████████████████
             │                                                 █████████████████████████
             │                                                 █████████████████████████
             │                                                 █████████████████████████
     559 KiB │                                                 █████████████████████████
             │                                                 █████████████████████████
             │                        ▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃█████████████████████████
           0 │                        ██████████████████████████████████████████████████▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆
                                                               ^ peak 1.09 MiB at 10.0 s
              0 s                                                                                         20.0 s
  
  Lines by calls
    allocated  share  calls  stacks  line
     97.7 KiB  64.5%    100       1  libxalloc.so+0x10
  
  Stacks by calls
    allocated  share  calls  stack
     97.7 KiB  64.5%    100  libxalloc.so+0x10
                               100 calls, 97.7 KiB, mean 1000 B, max 1000 B
                               allocated from 2.00 s to 12.0 s; 4 freed, median lifetime under 5.12 s
                               via libc.so.6+0x98765
                               parse+0x10
                               load+0x10
                               main+0x10
    3 more stacks (--top 0 shows all)
  
  Stacks of mmap by bytes mapped
       live  share  blocks  stack
    128 KiB   100%       2  map+0x10
                              main+0x10
  
  Sizes of requests (bytes)
    size       malloc  calloc  realloc  free  allocated     freed    in use  failed
    <=16            3       -        -     -       24 B         -      24 B       -
    <=256          50       -        -    40   1.56 KiB  1.25 KiB     320 B       -
    <=1024          -     100        -     4   97.7 KiB  3.91 KiB  93.8 KiB       -
    larger          -       -        2     2   2.00 MiB  2.00 MiB         -       1
    total          53     100        2    46   2.10 MiB  2.01 MiB  94.1 KiB       1
    untracked                              7
    untracked: frees of blocks that pmm did not see being made
  
  Lifetimes of freed blocks
    lived from      to  frees  share
           0 s   10 ms     30  65.2%  ########################################
         20 ms   40 ms     10  21.7%  #############
        640 ms  1.28 s      2   4.3%  ###
        2.56 s  5.12 s      4   8.7%  #####
  
  Memory around it
    allocator  libc.so.6: 1.03 MiB from the system, 100 KiB used, 956 KiB free in 12 chunks
               132 KiB more in 1 chunk of mmap; 64 B in 2 chunks of the fast lists; 512 KiB at the top
    mappings   mmap 3 calls, 192 KiB, 2 failed; munmap 1 call, 64.0 KiB
               mremap 4 calls, 128 KiB grown, 64.0 KiB shrunk
               brk 5 calls, grown by 1.03 MiB, at most 2.00 MiB
    ledger     2.00 MiB of at most 64.0 MiB; 109 of 4,096 slots used
  
  Threads by bytes allocated
     tid  thread  alive  allocs  frees  allocated     freed
    4242  main               55     42   2.00 MiB  2.00 MiB
    1 more thread (--json has all)
  
  Modules without names for what is shown above (install their -dbgsym packages, or use --debuginfod)
    module
    main
    load
    parse
    libxalloc.so
    /lib/demo/libc.so.6
    names
    big
    map
$ pmm report --sort temporary --top 0 demo.pmm
  demo --fast input.txt
    process  demo, pid 4242, ran 20.0 s from 2023-11-14 22:13:20, exited with status 3
    peak     1.09 MiB after 10.0 s
    live     94.1 KiB in 109 blocks at the end
    mapped   128 KiB of address space in 2 mappings by mmap, beside the heap
    calls    155 allocations of 2.10 MiB (8/s), 46 frees; 19.4% temporary, mean 13.9 KiB
    unusual  1 failed, 1 of size zero
    mode     exact: every call
  
  Live bytes over time
    1.09 MiB │                                                 █████████████████████████
             │                                                 █████████████████████████
             │                                                 █████████████████████████
             │                                                 █████████████████████████
     559 KiB │                                                 █████████████████████████
             │                                                 █████████████████████████
             │                        ▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃█████████████████████████
           0 │                        ██████████████████████████████████████████████████▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆
                                                               ^ peak 1.09 MiB at 10.0 s
              0 s                                                                                         20.0 s
  
  Lines by temporary allocations
    share  temporary  stacks  line
     100%         30       1  names+0x10
  
  Stacks by temporary allocations
    share  temporary  stack
     100%         30  names+0x10
                        50 calls, 1.56 KiB, mean 32 B, max 32 B, 60.0% temporary
                        allocated from 1.00 s to 19.0 s; 40 freed, median lifetime under 10 ms
                        load+0x10
                        main+0x10
     0.0%          0  [stack unknown]
                        3 calls, 24 B, mean 8 B, max 8 B
                        allocated after 500 ms
                        1 of size zero
     0.0%          0  libxalloc.so+0x10
                        100 calls, 97.7 KiB, mean 1000 B, max 1000 B
                        allocated from 2.00 s to 12.0 s; 4 freed, median lifetime under 5.12 s
                        via libc.so.6+0x98765
                        parse+0x10
                        load+0x10
                        main+0x10
     0.0%          0  big+0x10
                        2 calls, 2.00 MiB, mean 1.00 MiB, max 1.00 MiB
                        allocated from 4.00 s to 9.00 s; 2 freed, median lifetime under 1.28 s
                        1 failed
                        main+0x10
  
  Stacks of mmap by bytes mapped
       live  share  blocks  stack
    128 KiB   100%       2  map+0x10
                              main+0x10
  
  Sizes of requests (bytes)
    size       malloc  calloc  realloc  free  allocated     freed    in use  failed
    <=16            3       -        -     -       24 B         -      24 B       -
    <=256          50       -        -    40   1.56 KiB  1.25 KiB     320 B       -
    <=1024          -     100        -     4   97.7 KiB  3.91 KiB  93.8 KiB       -
    larger          -       -        2     2   2.00 MiB  2.00 MiB         -       1
    total          53     100        2    46   2.10 MiB  2.01 MiB  94.1 KiB       1
    untracked                              7
    untracked: frees of blocks that pmm did not see being made
  
  Lifetimes of freed blocks
    lived from      to  frees  share
           0 s   10 ms     30  65.2%  ########################################
         20 ms   40 ms     10  21.7%  #############
        640 ms  1.28 s      2   4.3%  ###
        2.56 s  5.12 s      4   8.7%  #####
  
  Memory around it
    allocator  libc.so.6: 1.03 MiB from the system, 100 KiB used, 956 KiB free in 12 chunks
               132 KiB more in 1 chunk of mmap; 64 B in 2 chunks of the fast lists; 512 KiB at the top
    mappings   mmap 3 calls, 192 KiB, 2 failed; munmap 1 call, 64.0 KiB
               mremap 4 calls, 128 KiB grown, 64.0 KiB shrunk
               brk 5 calls, grown by 1.03 MiB, at most 2.00 MiB
    ledger     2.00 MiB of at most 64.0 MiB; 109 of 4,096 slots used
  
  Threads by bytes allocated
     tid  thread  alive   since  allocs  frees  allocated     freed
    4242  main                -      55     42   2.00 MiB  2.00 MiB
    4243  worker         2.00 s     100      4   97.7 KiB  3.91 KiB
  
  Modules without names for what is shown above (install their -dbgsym packages, or use --debuginfod)
    module
    main
    load
    parse
    libxalloc.so
    /lib/demo/libc.so.6
    names
    big
    map
$ pmm report --json demo.pmm
  {
    "schema": "pmm-report/1.5",
    "process": {
      "pid": 4242,
      "ppid": 17,
      "comm": "demo",
      "exe": "/usr/bin/demo",
      "cmdline": "demo --fast input.txt",
      "host": "box",
      "start_realtime_ns": 1700000000000000000,
      "taken_realtime_ns": 1700000020000000000,
      "run_ns": 20000000000,
      "end": "exited",
      "exit_status": 3,
      "began": "exec"
    },
    "totals": {
      "mode": "exact",
      "sample_bytes": 0,
      "min_size_bytes": 0,
      "warn_size_bytes": 0,
      "live_bytes": 96344,
      "live_blocks": 109,
      "live_error_bytes": 0,
      "peak_bytes": 1144920,
      "peak_ns": 10000000000,
      "peak_accounted_bytes": 1144920,
      "peak_accounted_blocks": 110,
      "allocs": 155,
      "frees": 46,
      "allocated_bytes": 2198776,
      "freed_bytes": 2102432,
      "allocs_per_second": 7.75,
      "temporary": 30,
      "temporary_percent": 19.35483870967742,
      "failed": 1,
      "zero_size": 1,
      "huge": 0,
      "untracked_frees": 7,
      "missed_frees": 0,
      "skipped_allocs": 0,
      "skipped_bytes": 0,
      "sites": 4,
      "heap_errors": 0
    },
    "warnings": [],
    "selection": {
      "sort": "peak",
      "shape": "stacks"
    },
    "history": {
      "time_ns": [0, 5000000000, 10000000000, 15000000000, 20000000000],
      "live_bytes": [0, 200000, 1144920, 100000, 96344],
      "live_blocks": [0, 60, 0, 109, 109],
      "allocs": [0, 60, 0, 140, 155],
      "rss_bytes": [0, 0, 0, 0, 0],
      "peak_index": 2
    },
    "site_history": [
      {"time_ns": 5000000000, "site": 2, "live_bytes": 64, "live_blocks": 2}
    ],
    "usage": {
      "times": "known",
      "pss": "known",
      "took_ns": 1000000,
      "pss_took_ns": 2000000
    },
    "usage_history": [
      {"time_ns": 5000000000, "threads": 2, "minor_faults": 400, "major_faults": 3, "user_ns": 20000000, "system_ns": 10000000, "anon_bytes": 307200, "file_bytes": 1048576, "shmem_bytes": 0, "swap_bytes": 16384, "pss_bytes": 921600},
      {"time_ns": 20000000000, "threads": 0, "minor_faults": 500, "major_faults": 3, "user_ns": 30000000, "system_ns": 10000000, "anon_bytes": null, "file_bytes": null, "shmem_bytes": null, "swap_bytes": null, "pss_bytes": null}
    ],
    "marks": [
      {"time_ns": 6000000000, "last_ns": 6000000000, "what": "fork", "count": 1, "pid": 4250, "name": "sorter", "error": null},
      {"time_ns": 20000000000, "last_ns": 20000000000, "what": "end", "count": 1, "pid": null, "name": null, "error": null}
    ],
    "lines": [
      {"value_bytes": 1048576, "share_percent": 91.58508891450931, "value_count": 1, "sites": 1, "function": null, "file": null, "line": null, "module": "big", "module_offset": "0x10", "pc": "0xb00010"},
      {"value_bytes": 96000, "share_percent": 8.384865318100829, "value_count": 96, "sites": 1, "function": null, "file": null, "line": null, "module": "libxalloc.so", "module_offset": "0x10", "pc": "0x800010"},
      {"value_bytes": 320, "share_percent": 0.027949551060336093, "value_count": 10, "sites": 1, "function": null, "file": null, "line": null, "module": "names", "module_offset": "0x10", "pc": "0xa00010"},
      {"value_bytes": 24, "share_percent": 0.002096216329525207, "value_count": 3, "sites": 1, "function": null, "file": null, "line": null, "module": null, "module_offset": null, "pc": null}
    ],
    "sites": [
      {
        "site": 3,
        "live_bytes": 0,
        "live_blocks": 0,
        "peak_bytes": 1048576,
        "peak_blocks": 1,
        "allocated_bytes": 2097152,
        "freed_bytes": 2097152,
        "allocs": 2,
        "frees": 2,
        "temporary": 0,
        "temporary_percent": 0,
        "mean_bytes": 1048576,
        "max_bytes": 1048576,
        "failed": 1,
        "zero_size": 0,
        "huge": 0,
        "first_ns": 4000000000,
        "last_ns": 9000000000,
        "lifetimes": [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        "module": "big",
        "module_offset": "0x10",
        "pc": "0xb00010",
        "share_percent": 91.58508891450931,
        "frames": [
          {"module": "big", "module_offset": "0x10", "pc": "0xb00010", "inlined": false, "role": "program"},
          {"module": "main", "module_offset": "0x10", "pc": "0x500010", "inlined": false, "role": "program"}
        ]
      },
      {
        "site": 1,
        "live_bytes": 96000,
        "live_blocks": 96,
        "peak_bytes": 96000,
        "peak_blocks": 96,
        "allocated_bytes": 100000,
        "freed_bytes": 4000,
        "allocs": 100,
        "frees": 4,
        "temporary": 0,
        "temporary_percent": 0,
        "mean_bytes": 1000,
        "max_bytes": 1000,
        "failed": 0,
        "zero_size": 0,
        "huge": 0,
        "first_ns": 2000000000,
        "last_ns": 12000000000,
        "lifetimes": [0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        "module": "libxalloc.so",
        "module_offset": "0x10",
        "pc": "0x800010",
        "share_percent": 8.384865318100829,
        "frames": [
          {"module": "/lib/demo/libc.so.6", "module_offset": "0x98765", "pc": "0x998765", "inlined": false, "role": "runtime"},
          {"module": "libxalloc.so", "module_offset": "0x10", "pc": "0x800010", "inlined": false, "role": "program"},
          {"module": "parse", "module_offset": "0x10", "pc": "0x700010", "inlined": false, "role": "program"},
          {"module": "load", "module_offset": "0x10", "pc": "0x600010", "inlined": false, "role": "program"},
          {"module": "main", "module_offset": "0x10", "pc": "0x500010", "inlined": false, "role": "program"}
        ]
      },
      {
        "site": 2,
        "live_bytes": 320,
        "live_blocks": 10,
        "peak_bytes": 320,
        "peak_blocks": 10,
        "allocated_bytes": 1600,
        "freed_bytes": 1280,
        "allocs": 50,
        "frees": 40,
        "temporary": 30,
        "temporary_percent": 6e+01,
        "mean_bytes": 32,
        "max_bytes": 32,
        "failed": 0,
        "zero_size": 0,
        "huge": 0,
        "first_ns": 1000000000,
        "last_ns": 19000000000,
        "lifetimes": [30, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        "module": "names",
        "module_offset": "0x10",
        "pc": "0xa00010",
        "share_percent": 0.027949551060336093,
        "frames": [
          {"module": "names", "module_offset": "0x10", "pc": "0xa00010", "inlined": false, "role": "program"},
          {"module": "load", "module_offset": "0x10", "pc": "0x600010", "inlined": false, "role": "program"},
          {"module": "main", "module_offset": "0x10", "pc": "0x500010", "inlined": false, "role": "program"}
        ]
      },
      {
        "site": 0,
        "live_bytes": 24,
        "live_blocks": 3,
        "peak_bytes": 24,
        "peak_blocks": 3,
        "allocated_bytes": 24,
        "freed_bytes": 0,
        "allocs": 3,
        "frees": 0,
        "temporary": 0,
        "temporary_percent": 0,
        "mean_bytes": 8,
        "max_bytes": 8,
        "failed": 0,
        "zero_size": 1,
        "huge": 0,
        "first_ns": 500000000,
        "last_ns": 500000000,
        "lifetimes": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        "share_percent": 0.002096216329525207,
        "frames": []
      }
    ],
    "map_sites": [
      {
        "site": 1,
        "live_bytes": 131072,
        "live_blocks": 2,
        "peak_bytes": 131072,
        "peak_blocks": 2,
        "allocated_bytes": 196608,
        "freed_bytes": 65536,
        "allocs": 3,
        "frees": 1,
        "temporary": 0,
        "temporary_percent": 0,
        "mean_bytes": 65536,
        "max_bytes": 65536,
        "failed": 0,
        "zero_size": 0,
        "huge": 0,
        "first_ns": 3000000000,
        "last_ns": 3000000000,
        "lifetimes": [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        "module": "map",
        "module_offset": "0x10",
        "pc": "0xc00010",
        "share_percent": 1e+02,
        "frames": [
          {"module": "map", "module_offset": "0x10", "pc": "0xc00010", "inlined": false, "role": "program"},
          {"module": "main", "module_offset": "0x10", "pc": "0x500010", "inlined": false, "role": "program"}
        ]
      }
    ],
    "size_classes": [
      {"class": "<=16", "max_bytes": 16, "malloc": 3, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 3, "free": 0, "allocated_bytes": 24, "freed_bytes": 0, "in_use_bytes": 24, "failed": 0},
      {"class": "<=256", "max_bytes": 256, "malloc": 50, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 50, "free": 40, "allocated_bytes": 1600, "freed_bytes": 1280, "in_use_bytes": 320, "failed": 0},
      {"class": "<=1024", "max_bytes": 1024, "malloc": 0, "calloc": 100, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 100, "free": 4, "allocated_bytes": 100000, "freed_bytes": 4000, "in_use_bytes": 96000, "failed": 0},
      {"class": "<=4096", "max_bytes": 4096, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "<=16384", "max_bytes": 16384, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "<=65536", "max_bytes": 65536, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "larger", "max_bytes": null, "malloc": 0, "calloc": 0, "realloc": 2, "aligned": 0, "new": 0, "other": 0, "calls": 2, "free": 2, "allocated_bytes": 2097152, "freed_bytes": 2097152, "in_use_bytes": 0, "failed": 1},
      {"class": "total", "max_bytes": null, "malloc": 53, "calloc": 100, "realloc": 2, "aligned": 0, "new": 0, "other": 0, "calls": 155, "free": 46, "allocated_bytes": 2198776, "freed_bytes": 2102432, "in_use_bytes": 96344, "failed": 1},
      {"class": "untracked", "max_bytes": null, "malloc": null, "calloc": null, "realloc": null, "aligned": null, "new": null, "other": null, "calls": null, "free": 7, "allocated_bytes": null, "freed_bytes": null, "in_use_bytes": null, "failed": null}
    ],
    "lifetimes": [
      {"from_ns": 0, "to_ns": 10000000, "frees": 30, "share_percent": 65.21739130434783},
      {"from_ns": 10000000, "to_ns": 20000000, "frees": 0, "share_percent": 0},
      {"from_ns": 20000000, "to_ns": 40000000, "frees": 10, "share_percent": 21.73913043478261},
      {"from_ns": 40000000, "to_ns": 80000000, "frees": 0, "share_percent": 0},
      {"from_ns": 80000000, "to_ns": 160000000, "frees": 0, "share_percent": 0},
      {"from_ns": 160000000, "to_ns": 320000000, "frees": 0, "share_percent": 0},
      {"from_ns": 320000000, "to_ns": 640000000, "frees": 0, "share_percent": 0},
      {"from_ns": 640000000, "to_ns": 1280000000, "frees": 2, "share_percent": 4.3478260869565215},
      {"from_ns": 1280000000, "to_ns": 2560000000, "frees": 0, "share_percent": 0},
      {"from_ns": 2560000000, "to_ns": 5120000000, "frees": 4, "share_percent": 8.695652173913043}
    ],
    "allocator": {
      "path": "/lib/demo/libc.so.6",
      "taken_ns": 20000000000,
      "arena_bytes": 1081344,
      "used_bytes": 102400,
      "free_bytes": 978944,
      "free_chunks": 12,
      "fast_bytes": 64,
      "fast_chunks": 2,
      "mmapped_bytes": 135168,
      "mmapped_chunks": 1,
      "top_bytes": 524288,
      "source": "mallinfo2",
      "approximate": false
    },
    "mapping": {
      "mmap_calls": 3,
      "mmap_bytes": 196608,
      "mmap_failed": 2,
      "munmap_calls": 1,
      "munmap_bytes": 65536,
      "mremap_calls": 4,
      "mremap_grown_bytes": 131072,
      "mremap_shrunk_bytes": 65536,
      "brk_calls": 5,
      "brk_growth_bytes": 1081344,
      "brk_peak_bytes": 2097152
    },
    "ledger": {
      "ledger_bytes": 2097152,
      "limit_bytes": 67108864,
      "slots_used": 109,
      "slots": 4096
    },
    "threads": [
      {"tid": 4242, "name": "main", "alive": null, "start_ns": 0, "allocs": 55, "frees": 42, "allocated_bytes": 2098776, "freed_bytes": 2098432},
      {"tid": 4243, "name": "worker", "alive": null, "start_ns": 2000000000, "allocs": 100, "frees": 4, "allocated_bytes": 100000, "freed_bytes": 4000}
    ],
    "modules": [
      {"path": "main", "build_id": null, "start": "0x500000", "end": "0x600000", "bias": "0x500000", "load_ns": 0, "unload_ns": null},
      {"path": "load", "build_id": null, "start": "0x600000", "end": "0x700000", "bias": "0x600000", "load_ns": 0, "unload_ns": null},
      {"path": "parse", "build_id": null, "start": "0x700000", "end": "0x800000", "bias": "0x700000", "load_ns": 0, "unload_ns": null},
      {"path": "libxalloc.so", "build_id": null, "start": "0x800000", "end": "0x900000", "bias": "0x800000", "load_ns": 0, "unload_ns": null},
      {"path": "/lib/demo/libc.so.6", "build_id": null, "start": "0x900000", "end": "0xa00000", "bias": "0x900000", "load_ns": 0, "unload_ns": null},
      {"path": "names", "build_id": null, "start": "0xa00000", "end": "0xb00000", "bias": "0xa00000", "load_ns": 0, "unload_ns": null},
      {"path": "big", "build_id": null, "start": "0xb00000", "end": "0xc00000", "bias": "0xb00000", "load_ns": 0, "unload_ns": null},
      {"path": "map", "build_id": null, "start": "0xc00000", "end": "0xd00000", "bias": "0xc00000", "load_ns": 0, "unload_ns": null}
    ],
    "left_out": {
      "lines": 0,
      "functions": 0,
      "blocks": 0,
      "sites": 0,
      "tree": 0,
      "map_sites": 0
    }
  }
$ pmm report --blocks --top 3 --size 9:999 demo.pmm
  demo --fast input.txt
    process  demo, pid 4242, ran 20.0 s from 2023-11-14 22:13:20, exited with status 3
    peak     1.09 MiB after 10.0 s
    live     94.1 KiB in 109 blocks at the end
    mapped   128 KiB of address space in 2 mappings by mmap, beside the heap
    calls    155 allocations of 2.10 MiB (8/s), 46 frees; 19.4% temporary, mean 13.9 KiB
    unusual  1 failed, 1 of size zero
    mode     exact: every call
    only     size 9 B to 999 B (of live blocks)
  
  Lines by live bytes
     live  share  blocks  stacks  line
    320 B   100%      10       1  names+0x10
  
  Live blocks, largest first
    #  size         address  entry      age         allocated at  line
    1  32 B  0x555555017a10  malloc  19.0 s  2023-11-14 22:13:21  names+0x10
    2  32 B  0x555555017a40  malloc  17.0 s  2023-11-14 22:13:23  names+0x10
    3  32 B  0x555555017a70  malloc  15.0 s  2023-11-14 22:13:25  names+0x10
    7 more blocks (--top 0 shows all)
  
  Stacks by live bytes
     live  share  blocks  stack
    320 B   100%      10  names+0x10
                            load+0x10
                            main+0x10
  
  Modules without names for what is shown above (install their -dbgsym packages, or use --debuginfod)
    module
    main
    load
    names
$ pmm report --top-down tree.pmm
  tree
    process  tree, pid 4242, ran 10.0 s from 2023-11-14 22:13:20, exited with status 0
    peak     9.77 KiB after 10.0 s
    live     9.77 KiB in 20 blocks at the end
    calls    20 allocations of 9.77 KiB (2/s), 0 frees; 0% temporary, mean 500 B
    mode     exact: every call
  
  Lines by live bytes
        live  share  blocks  stacks  line
    6.84 KiB  70.0%      14       2  grow+0x10
    1.95 KiB  20.0%       4       1  parse+0x10
      1000 B  10.0%       2       1  log+0x10
  
  Call tree by live bytes
       bytes  count  share  frame
    9.77 KiB     20   100%  main+0x10
    8.79 KiB     18  90.0%    serve+0x10
    5.86 KiB     12  60.0%      parse+0x10
    3.91 KiB      8  40.0%      grow+0x10
    2.93 KiB      6  30.0%      cache+0x10
    2.93 KiB      6  30.0%      grow+0x10
      1000 B      2  10.0%    log+0x10
  
  Sizes of requests (bytes)
    size    malloc  allocated    in use
    <=1024      20   9.77 KiB  9.77 KiB
    total       20   9.77 KiB  9.77 KiB
  
  Memory around it
    allocator  figures not known, because it gave none when the program ended
    ledger     0 B of at most 0 B; 0 of 0 slots used
  
  Threads by bytes allocated
     tid  thread  alive  allocs  allocated
    4242  main               20   9.77 KiB
  
  Modules without names for what is shown above (install their -dbgsym packages, or use --debuginfod)
    module
    main
    serve
    parse
    grow
    cache
    log
$ pmm report --bottom-up --top 2 tree.pmm
  tree
    process  tree, pid 4242, ran 10.0 s from 2023-11-14 22:13:20, exited with status 0
    peak     9.77 KiB after 10.0 s
    live     9.77 KiB in 20 blocks at the end
    calls    20 allocations of 9.77 KiB (2/s), 0 frees; 0% temporary, mean 500 B
    mode     exact: every call
  
  Lines by live bytes
        live  share  blocks  stacks  line
    6.84 KiB  70.0%      14       2  grow+0x10
    1.95 KiB  20.0%       4       1  parse+0x10
  
  Callers by live bytes
       bytes  count  share  frame
    6.84 KiB     14  70.0%  grow+0x10
    3.91 KiB      8  40.0%    parse+0x10
    3.91 KiB      8  40.0%    serve+0x10
    3.91 KiB      8  40.0%    main+0x10
    2.93 KiB      6  30.0%    cache+0x10
    2.93 KiB      6  30.0%    serve+0x10
    2.93 KiB      6  30.0%    main+0x10
    1.95 KiB      4  20.0%  parse+0x10
    1.95 KiB      4  20.0%  serve+0x10
    1.95 KiB      4  20.0%  main+0x10
      1000 B      2  10.0%  (1 more)
  
  Sizes of requests (bytes)
    size    malloc  allocated    in use
    <=1024      20   9.77 KiB  9.77 KiB
    total       20   9.77 KiB  9.77 KiB
  
  Memory around it
    allocator  figures not known, because it gave none when the program ended
    ledger     0 B of at most 0 B; 0 of 0 slots used
  
  Threads by bytes allocated
     tid  thread  alive  allocs  allocated
    4242  main               20   9.77 KiB
  
  Modules without names for what is shown above (install their -dbgsym packages, or use --debuginfod)
    module
    main
    serve
    parse
    grow
    cache
    log
$ pmm report --top-down --depth 2 --json tree.pmm
  {
    "schema": "pmm-report/1.5",
    "process": {
      "pid": 4242,
      "ppid": 1,
      "comm": "tree",
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
    "totals": {
      "mode": "exact",
      "sample_bytes": 0,
      "min_size_bytes": 0,
      "warn_size_bytes": 0,
      "live_bytes": 10000,
      "live_blocks": 20,
      "live_error_bytes": 0,
      "peak_bytes": 10000,
      "peak_ns": 10000000000,
      "peak_accounted_bytes": 10000,
      "peak_accounted_blocks": 20,
      "allocs": 20,
      "frees": 0,
      "allocated_bytes": 10000,
      "freed_bytes": 0,
      "allocs_per_second": 2,
      "temporary": 0,
      "temporary_percent": 0,
      "failed": 0,
      "zero_size": 0,
      "huge": 0,
      "untracked_frees": 0,
      "missed_frees": 0,
      "skipped_allocs": 0,
      "skipped_bytes": 0,
      "sites": 5,
      "heap_errors": 0
    },
    "warnings": [],
    "selection": {
      "sort": "live",
      "shape": "top-down",
      "depth": 2
    },
    "history": {
      "time_ns": [0, 10000000000],
      "live_bytes": [0, 10000],
      "live_blocks": [0, 0],
      "allocs": [0, 0],
      "rss_bytes": [0, 0],
      "peak_index": 1
    },
    "site_history": [],
    "marks": [
      {"time_ns": 10000000000, "last_ns": 10000000000, "what": "end", "count": 1, "pid": null, "name": null, "error": null}
    ],
    "lines": [
      {"value_bytes": 7000, "share_percent": 7e+01, "value_count": 14, "sites": 2, "function": null, "file": null, "line": null, "module": "grow", "module_offset": "0x10", "pc": "0x800010"},
      {"value_bytes": 2000, "share_percent": 2e+01, "value_count": 4, "sites": 1, "function": null, "file": null, "line": null, "module": "parse", "module_offset": "0x10", "pc": "0x700010"},
      {"value_bytes": 1000, "share_percent": 1e+01, "value_count": 2, "sites": 1, "function": null, "file": null, "line": null, "module": "log", "module_offset": "0x10", "pc": "0xa00010"}
    ],
    "tree": [
      {"depth": 0, "value_bytes": 10000, "value_count": 20, "share_percent": 1e+02, "self_bytes": 0, "self_count": 0, "module": "main", "module_offset": "0x10", "pc": "0x500010"},
      {"depth": 1, "value_bytes": 9000, "value_count": 18, "share_percent": 9e+01, "self_bytes": 0, "self_count": 0, "module": "serve", "module_offset": "0x10", "pc": "0x600010"},
      {"depth": 1, "value_bytes": 1000, "value_count": 2, "share_percent": 1e+01, "self_bytes": 1000, "self_count": 2, "module": "log", "module_offset": "0x10", "pc": "0xa00010"}
    ],
    "map_sites": [],
    "size_classes": [
      {"class": "<=16", "max_bytes": 16, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "<=256", "max_bytes": 256, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "<=1024", "max_bytes": 1024, "malloc": 20, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 20, "free": 0, "allocated_bytes": 10000, "freed_bytes": 0, "in_use_bytes": 10000, "failed": 0},
      {"class": "<=4096", "max_bytes": 4096, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "<=16384", "max_bytes": 16384, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "<=65536", "max_bytes": 65536, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "larger", "max_bytes": null, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "total", "max_bytes": null, "malloc": 20, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 20, "free": 0, "allocated_bytes": 10000, "freed_bytes": 0, "in_use_bytes": 10000, "failed": 0},
      {"class": "untracked", "max_bytes": null, "malloc": null, "calloc": null, "realloc": null, "aligned": null, "new": null, "other": null, "calls": null, "free": 0, "allocated_bytes": null, "freed_bytes": null, "in_use_bytes": null, "failed": null}
    ],
    "lifetimes": [],
    "allocator": {
      "unknown": "not_asked"
    },
    "mapping": {
      "mmap_calls": 0,
      "mmap_bytes": 0,
      "mmap_failed": 0,
      "munmap_calls": 0,
      "munmap_bytes": 0,
      "mremap_calls": 0,
      "mremap_grown_bytes": 0,
      "mremap_shrunk_bytes": 0,
      "brk_calls": 0,
      "brk_growth_bytes": 0,
      "brk_peak_bytes": 0
    },
    "ledger": {
      "ledger_bytes": 0,
      "limit_bytes": 0,
      "slots_used": 0,
      "slots": 0
    },
    "threads": [
      {"tid": 4242, "name": "main", "alive": null, "start_ns": 0, "allocs": 20, "frees": 0, "allocated_bytes": 10000, "freed_bytes": 0}
    ],
    "modules": [
      {"path": "main", "build_id": null, "start": "0x500000", "end": "0x600000", "bias": "0x500000", "load_ns": 0, "unload_ns": null},
      {"path": "serve", "build_id": null, "start": "0x600000", "end": "0x700000", "bias": "0x600000", "load_ns": 0, "unload_ns": null},
      {"path": "parse", "build_id": null, "start": "0x700000", "end": "0x800000", "bias": "0x700000", "load_ns": 0, "unload_ns": null},
      {"path": "grow", "build_id": null, "start": "0x800000", "end": "0x900000", "bias": "0x800000", "load_ns": 0, "unload_ns": null},
      {"path": "cache", "build_id": null, "start": "0x900000", "end": "0xa00000", "bias": "0x900000", "load_ns": 0, "unload_ns": null},
      {"path": "log", "build_id": null, "start": "0xa00000", "end": "0xb00000", "bias": "0xa00000", "load_ns": 0, "unload_ns": null}
    ],
    "left_out": {
      "lines": 0,
      "functions": 0,
      "blocks": 0,
      "sites": 0,
      "tree": 0,
      "map_sites": 0
    }
  }
$ pmm report --module load demo.pmm
  demo --fast input.txt
    process  demo, pid 4242, ran 20.0 s from 2023-11-14 22:13:20, exited with status 3
    peak     1.09 MiB after 10.0 s
    live     94.1 KiB in 109 blocks at the end
    mapped   128 KiB of address space in 2 mappings by mmap, beside the heap
    calls    155 allocations of 2.10 MiB (8/s), 46 frees; 19.4% temporary, mean 13.9 KiB
    unusual  1 failed, 1 of size zero
    mode     exact: every call
    only     module 'load'
  
  Lines by bytes at the peak
     at peak  share  blocks  stacks  line
    93.8 KiB  99.7%      96       1  libxalloc.so+0x10
       320 B   0.3%      10       1  names+0x10
  
  Stacks by bytes at the peak
     at peak  share  blocks  stack
    93.8 KiB  99.7%      96  libxalloc.so+0x10
                               100 calls, 97.7 KiB, mean 1000 B, max 1000 B
                               allocated from 2.00 s to 12.0 s; 4 freed, median lifetime under 5.12 s
                               via libc.so.6+0x98765
                               parse+0x10
                               load+0x10
                               main+0x10
       320 B   0.3%      10  names+0x10
                               50 calls, 1.56 KiB, mean 32 B, max 32 B, 60.0% temporary
                               allocated from 1.00 s to 19.0 s; 40 freed, median lifetime under 10 ms
                               load+0x10
                               main+0x10
  
  Modules without names for what is shown above (install their -dbgsym packages, or use --debuginfod)
    module
    main
    load
    parse
    libxalloc.so
    /lib/demo/libc.so.6
    names
$ pmm report --thread worker --age 2 demo.pmm
  demo --fast input.txt
    process  demo, pid 4242, ran 20.0 s from 2023-11-14 22:13:20, exited with status 3
    peak     1.09 MiB after 10.0 s
    live     94.1 KiB in 109 blocks at the end
    mapped   128 KiB of address space in 2 mappings by mmap, beside the heap
    calls    155 allocations of 2.10 MiB (8/s), 46 frees; 19.4% temporary, mean 13.9 KiB
    unusual  1 failed, 1 of size zero
    mode     exact: every call
    only     thread 'worker', age 2 s to any (of live blocks)
  
  Lines by live bytes
        live  share  blocks  stacks  line
    93.8 KiB   100%      96       1  libxalloc.so+0x10
  
  Stacks by live bytes
        live  share  blocks  stack
    93.8 KiB   100%      96  libxalloc.so+0x10
                               via libc.so.6+0x98765
                               parse+0x10
                               load+0x10
                               main+0x10
  
  Modules without names for what is shown above (install their -dbgsym packages, or use --debuginfod)
    module
    main
    load
    parse
    libxalloc.so
    /lib/demo/libc.so.6
$ pmm report --function load demo.pmm
  demo --fast input.txt
    process  demo, pid 4242, ran 20.0 s from 2023-11-14 22:13:20, exited with status 3
    peak     1.09 MiB after 10.0 s
    live     94.1 KiB in 109 blocks at the end
    mapped   128 KiB of address space in 2 mappings by mmap, beside the heap
    calls    155 allocations of 2.10 MiB (8/s), 46 frees; 19.4% temporary, mean 13.9 KiB
    unusual  1 failed, 1 of size zero
    mode     exact: every call
    only     nothing passes the filter: function 'load'
  
  Lines by bytes at the peak
    at peak  share  blocks  stacks  line
    nothing to show
  
  Stacks by bytes at the peak
    at peak  share  blocks  stack
    nothing to show
  
  Modules without names for what is shown above (install their -dbgsym packages, or use --debuginfod)
    module
    main
    load
    parse
    libxalloc.so
    /lib/demo/libc.so.6
    names
    big
    map
# captures are files, and processes; the summary of a check names the command that tells more
$ pmm report check.pmm | head -12
  demo --serve
    process  demo, pid 4242, ran 60.0 s from 2023-11-14 22:13:20, exited with status 0
    peak     3 B after 60.0 s
    live     3 B in 3 blocks at the end
    calls    3 allocations of 3 B (0/s), 0 frees; 0% temporary, mean 1 B
    mode     exact: every call
    errors   7 heap errors, see 'pmm check check.pmm'
  
  Lines by live bytes
    live  share  blocks  stacks  line
     1 B  33.3%       1       1  parse+0x10
     1 B  33.3%       1       1  make+0x10
$ pmm report --thread nobody demo.pmm
  pmm: no thread matches 'nobody'
  pmm: hint: the report without --thread lists the threads
[3]
$ pmm report --sort peak --thread main demo.pmm
  pmm: '--sort peak' cannot be used with --thread, --size or --age
  pmm: hint: those are known of live blocks only; leave out --sort or use '--sort live'
[2]
$ pmm report --sort allocated --size 1K demo.pmm
  pmm: '--sort allocated' cannot be used with --thread, --size or --age
  pmm: hint: those are known of live blocks only; leave out --sort or use '--sort live'
[2]
$ pmm report --top-down --bottom-up demo.pmm
  pmm: '--top-down' and '--bottom-up' cannot be used together
  pmm: hint: ask for one after the other
[2]
$ pmm report --blocks --bottom-up demo.pmm
  pmm: '--blocks' cannot be used with --top-down or --bottom-up
  pmm: hint: ask for one after the other
[2]
$ pmm report --no-symbols --function main demo.pmm
  pmm: '--function' needs symbols
  pmm: hint: leave out --no-symbols
[2]
$ pmm report --sort size demo.pmm
  pmm: 'size' is not a choice of --sort
  pmm: hint: one of: live, peak, allocated, calls, temporary
[2]
$ pmm report --size 10:5 demo.pmm
  pmm: --size: the range '10:5' is empty
  pmm: hint: 'pmm report --help' lists the options
[2]
$ pmm report --top many demo.pmm
  pmm: --top: 'many' is not a number
  pmm: hint: decimal digits only
[2]
$ pmm report --age x demo.pmm
  pmm: --age: 'x' is not a duration
  pmm: hint: a number of seconds, or with ns, us, ms, s, m, h or d: 10ms, 5s, 2m
[2]
$ pmm report --depth 2 demo.pmm | head -3
  demo --fast input.txt
    process  demo, pid 4242, ran 20.0 s from 2023-11-14 22:13:20, exited with status 3
    peak     1.09 MiB after 10.0 s
$ pmm report
  pmm: 'pmm report' needs an argument
  pmm: hint: usage: pmm report [options] FILE|PID
[2]
$ pmm report no/such.pmm
  pmm: cannot open 'no/such.pmm': No such file or directory
  pmm: hint: give the name of a capture or the number of a tracked process
[3]
$ head -c 5000 /dev/zero >noise.pmm; pmm report noise.pmm
  pmm: 'noise.pmm' is not a pmm capture
  pmm: hint: captures are written by 'pmm run' and 'pmm snapshot'; their names end in .pmm
[3]
$ pmm report fake:demo.recipe
  pmm: cannot open 'fake:demo.recipe': No such file or directory
  pmm: hint: give the name of a capture or the number of a tracked process
[3]
$ echo nonsense >odd; pmm report odd
  pmm: 'odd' is not a pmm capture
  pmm: hint: captures are written by 'pmm run' and 'pmm snapshot'; their names end in .pmm
[3]
$ pmm report 0
  pmm: '0' is not a process number
  pmm: hint: 'ps -e' lists all processes with their numbers
[2]
$ pmm report 999999999
  pmm: no process 999999999
  pmm: hint: when it has ended, name its capture, pmm.COMMAND.999999999.pmm as a rule
[3]
$ pmm report demo.pmm >/dev/full
  pmm: cannot write the report: No space left on device
[3]
$ pmm report --json demo.pmm >/dev/full
  pmm: cannot write the report: No space left on device
[3]
$ printf 'watch mode=sampled sample=1000\nsite main allocs=4 size=1000 samples-in=4\n' | mkcapture /dev/stdin sampled.pmm; pmm report sampled.pmm
  fake
    process  fake, pid 4242, ran 10.0 s from 2023-11-14 22:13:20, exited with status 0
    peak     about 3.91 KiB after 10.0 s
    live     about 3.91 KiB in 4 blocks at the end
    calls    about 4 allocations of 3.91 KiB (0/s), 0 frees; 0% temporary, mean 1000 B
    mode     sampled every 1000 B: figures are estimates, live bytes within 3.67 KiB (94.0%) in 19 of 20 cases
  
  Lines by live bytes
        live  share  blocks  stacks  line
    3.91 KiB   100%       4       1  main+0x10
  
  Stacks by live bytes
        live  share  blocks  stack
    3.91 KiB   100%       4  main+0x10
                               4 calls, 3.91 KiB, mean 1000 B, max 1000 B
                               allocated after 1.00 s
                               from 4 samples; live within 3.67 KiB in 19 of 20 cases
  
  Sizes of requests (bytes)
    size    malloc  allocated    in use
    <=1024       4   3.91 KiB  3.91 KiB
    total        4   3.91 KiB  3.91 KiB
  
  Memory around it
    allocator  figures not known, because it gave none when the program ended
    ledger     0 B of at most 0 B; 0 of 0 slots used
  
  Threads by bytes allocated
     tid  thread  alive  allocs  allocated
    4242  main                4   3.91 KiB
  
  Modules without names for what is shown above (install their -dbgsym packages, or use --debuginfod)
    module
    main
$ printf 'process taken=1s\ndrop block-full=5 bytes=100\nwatch off=2 min-size=32\ntotals skipped=3 skipped-bytes=30\nsite main size=64\n' | mkcapture /dev/stdin lost.pmm; pmm report lost.pmm
    !  tracking stopped early (no memory for the ledger); what came after is missing
    !  5 blocks were not recorded: the ledger reached its limit (--ledger-limit)
    !  3 allocations below 32 B were skipped (30 B in all)
  
  fake
    process  fake, pid 4242, ran 1.00 s from 2023-11-14 22:13:20, exited with status 0
    peak     64 B after 1.00 s
    live     64 B in 1 block at the end
    calls    1 allocation of 64 B (1/s), 0 frees; 0% temporary, mean 64 B
    mode     exact, of large enough blocks, but at least 5 calls are missing
  
  Lines by live bytes
    live  share  blocks  stacks  line
    64 B   100%       1       1  main+0x10
  
  Stacks by live bytes
    live  share  blocks  stack
    64 B   100%       1  main+0x10
                           1 call, 64 B, mean 64 B, max 64 B
                           allocated after 1.00 s
  
  Sizes of requests (bytes)
    size   malloc  allocated  in use
    <=256       1       64 B    64 B
    total       1       64 B    64 B
  
  Memory around it
    allocator  figures not known, because it gave none when the program ended
    ledger     0 B of at most 0 B; 0 of 0 slots used
  
  Threads by bytes allocated
     tid  thread  alive  allocs  allocated
    4242  main                1       64 B
  
  Modules without names for what is shown above (install their -dbgsym packages, or use --debuginfod)
    module
    main
$ printf '\n' | mkcapture /dev/stdin empty.pmm; pmm report empty.pmm
  fake
    process  fake, pid 4242, ran 10.0 s from 2023-11-14 22:13:20, exited with status 0
    peak     0 B
    live     0 B in 0 blocks at the end
    calls    no allocations, 0 frees
    mode     exact: every call
  
  Memory around it
    allocator  figures not known, because it gave none when the program ended
    ledger     0 B of at most 0 B; 0 of 0 slots used
$ pmm report --json empty.pmm
  {
    "schema": "pmm-report/1.5",
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
    "totals": {
      "mode": "exact",
      "sample_bytes": 0,
      "min_size_bytes": 0,
      "warn_size_bytes": 0,
      "live_bytes": 0,
      "live_blocks": 0,
      "live_error_bytes": 0,
      "peak_bytes": 0,
      "peak_ns": 10000000000,
      "peak_accounted_bytes": 0,
      "peak_accounted_blocks": 0,
      "allocs": 0,
      "frees": 0,
      "allocated_bytes": 0,
      "freed_bytes": 0,
      "allocs_per_second": 0,
      "temporary": 0,
      "temporary_percent": 0,
      "failed": 0,
      "zero_size": 0,
      "huge": 0,
      "untracked_frees": 0,
      "missed_frees": 0,
      "skipped_allocs": 0,
      "skipped_bytes": 0,
      "sites": 1,
      "heap_errors": 0
    },
    "warnings": [],
    "selection": {
      "sort": "peak",
      "shape": "stacks"
    },
    "history": {
      "time_ns": [0, 10000000000],
      "live_bytes": [0, 0],
      "live_blocks": [0, 0],
      "allocs": [0, 0],
      "rss_bytes": [0, 0],
      "peak_index": 0
    },
    "site_history": [],
    "marks": [
      {"time_ns": 10000000000, "last_ns": 10000000000, "what": "end", "count": 1, "pid": null, "name": null, "error": null}
    ],
    "lines": [],
    "sites": [],
    "map_sites": [],
    "size_classes": [
      {"class": "<=16", "max_bytes": 16, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "<=256", "max_bytes": 256, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "<=1024", "max_bytes": 1024, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "<=4096", "max_bytes": 4096, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "<=16384", "max_bytes": 16384, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "<=65536", "max_bytes": 65536, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "larger", "max_bytes": null, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "total", "max_bytes": null, "malloc": 0, "calloc": 0, "realloc": 0, "aligned": 0, "new": 0, "other": 0, "calls": 0, "free": 0, "allocated_bytes": 0, "freed_bytes": 0, "in_use_bytes": 0, "failed": 0},
      {"class": "untracked", "max_bytes": null, "malloc": null, "calloc": null, "realloc": null, "aligned": null, "new": null, "other": null, "calls": null, "free": 0, "allocated_bytes": null, "freed_bytes": null, "in_use_bytes": null, "failed": null}
    ],
    "lifetimes": [],
    "allocator": {
      "unknown": "not_asked"
    },
    "mapping": {
      "mmap_calls": 0,
      "mmap_bytes": 0,
      "mmap_failed": 0,
      "munmap_calls": 0,
      "munmap_bytes": 0,
      "mremap_calls": 0,
      "mremap_grown_bytes": 0,
      "mremap_shrunk_bytes": 0,
      "brk_calls": 0,
      "brk_growth_bytes": 0,
      "brk_peak_bytes": 0
    },
    "ledger": {
      "ledger_bytes": 0,
      "limit_bytes": 0,
      "slots_used": 0,
      "slots": 0
    },
    "threads": [
      {"tid": 4242, "name": "main", "alive": null, "start_ns": 0, "allocs": 0, "frees": 0, "allocated_bytes": 0, "freed_bytes": 0}
    ],
    "modules": [],
    "left_out": {
      "lines": 0,
      "functions": 0,
      "blocks": 0,
      "sites": 0,
      "tree": 0,
      "map_sites": 0
    }
  }
# how a process ended is known from its own ledger, its status only from its parent
$ printf 'process taken=1s end=exited status=-1\n' | mkcapture /dev/stdin unknown.pmm; pmm report --json unknown.pmm | jq -c '.process | [.end, .exit_status]'; pmm report unknown.pmm | grep process
  ["exited",null]
    process  fake, pid 4242, ran 1.00 s from 2023-11-14 22:13:20, exited
$ printf 'process taken=1s end=killed status=11\n' | mkcapture /dev/stdin killed.pmm; pmm report --json killed.pmm | jq -c '.process | [.end, .exit_status, .signal]'; pmm report killed.pmm | grep process
  ["killed",null,11]
    process  fake, pid 4242, ran 1.00 s from 2023-11-14 22:13:20, killed by signal 11 (SIGSEGV)
$ printf 'process taken=1s end=gone status=-1\n' | mkcapture /dev/stdin unknown.pmm; pmm report --json unknown.pmm | jq -c '[.process.end, .process.exit_status, .threads[0].alive]'; pmm report unknown.pmm | grep process
  ["unknown",null,null]
    process  fake, pid 4242, ran 1.00 s from 2023-11-14 22:13:20, ended; how is not known
$ for end in running gone replaced; do printf "process taken=1s end=$end status=3\n" | mkcapture /dev/stdin other.pmm; pmm report --json other.pmm | jq -c '.process | [.end, .exit_status, .signal]'; pmm report other.pmm | grep process; done
  ["running",null,null]
    process  fake, pid 4242, ran 1.00 s from 2023-11-14 22:13:20, running when captured
  ["gone",3,null]
    process  fake, pid 4242, ran 1.00 s from 2023-11-14 22:13:20, ended without exit(), status 3
  ["replaced",null,null]
    process  fake, pid 4242, ran 1.00 s from 2023-11-14 22:13:20, replaced itself through exec
# made-up heaps that are too long to show: sums of all that is printed
$ for seed in 1 2 3; do printf "generate sites=40 blocks=600 depth=6 modules=3 threads=3 points=9 seed=$seed\n" | mkcapture /dev/stdin generated.pmm; pmm report --no-symbols --json --blocks --top 0 generated.pmm | cksum; pmm report --no-symbols --blocks --top 0 generated.pmm | cksum; done
  416898546 317639
  3102878903 73758
  2518360355 319371
  3682960275 74258
  2780363767 317705
  3633614144 73651
$ printf "generate\n" | mkcapture /dev/stdin generated.pmm; pmm report --no-symbols --json --blocks --top 0 generated.pmm | cksum
  1356212346 750310
$ pmm leaks --no-symbols --json --top 0 --show all generated.pmm | head -3
  pmm: the process of this capture was not searched for leaks
  pmm: hint: record another with 'pmm run --leaks', search a running process with 'pmm leaks PID', or a core file with 'pmm leaks --core CORE FILE'
