# SPDX-License-Identifier: GPL-2.0-or-later
$ for r in demo tree leaks check; do mkcapture $SOURCE/tests/cli/golden/$r.recipe $r.pmm; done
$ pmm leaks leaks.pmm
  demo --serve <all>
    process          demo, pid 4242, ran 60.0 s, running when captured
    searched         1.04 GiB in 600 ms, in a copy; the program was stopped for 3.10 ms
    definitely lost  313 bytes in 4 blocks, 2 sites
    indirectly lost  2,940 bytes in 126 blocks, 2 sites
    possibly lost    160 bytes in 6 blocks, 2 sites
    still reachable  616,288 bytes in 1,611 blocks, 4 sites
  
  Leaks, certain, each with the blocks that only it leads to
       bytes  blocks  allocated in
    3.16 KiB     129  libxalloc.so+0x10
                        definitely lost: nothing points to these 3 blocks any
                        more; oldest 55.0 s, newest 10.0 s
                        300 B in 3 blocks directly, and 2.87 KiB in 126 blocks that only they lead to
                        via libc.so.6+0x98765
                        doc+0x10
                        load+0x10
                        main+0x10
        13 B       1  name+0x10
                        definitely lost: nothing points to this block any more;
                        5.00 s old
                        load+0x10
                        main+0x10
  
  Growing: a leak, or a cache that fills
      bytes  blocks  allocated in
    586 KiB     600  queue+0x10
                       still reachable: 586 KiB, growing 9.75 KiB/s for 59.1 s,
                       all held by a list or tree that hangs on blocks made in
                       hub+0x10; a cache that fills does the same: likely a leak
                       after 5m
                       serve+0x10
                       main+0x10
  
    160 B in 6 blocks at 2 sites: possibly lost, and nothing else speaks for leaks (--show=possible lists them)
    15.9 KiB in 1,011 blocks at 3 sites: still reachable, probably no leaks (--show=all lists them)
[1]
$ pmm leaks --show all --top 0 leaks.pmm
  demo --serve <all>
    process          demo, pid 4242, ran 60.0 s, running when captured
    searched         1.04 GiB in 600 ms, in a copy; the program was stopped for 3.10 ms
    definitely lost  313 bytes in 4 blocks, 2 sites
    indirectly lost  2,940 bytes in 126 blocks, 2 sites
    possibly lost    160 bytes in 6 blocks, 2 sites
    still reachable  616,288 bytes in 1,611 blocks, 4 sites
  
  Leaks, certain, each with the blocks that only it leads to
       bytes  blocks  allocated in
    3.16 KiB     129  libxalloc.so+0x10
                        definitely lost: nothing points to these 3 blocks any
                        more; oldest 55.0 s, newest 10.0 s
                        300 B in 3 blocks directly, and 2.87 KiB in 126 blocks that only they lead to
                        via libc.so.6+0x98765
                        doc+0x10
                        load+0x10
                        main+0x10
        13 B       1  name+0x10
                        definitely lost: nothing points to this block any more;
                        5.00 s old
                        load+0x10
                        main+0x10
    2.81 KiB     120  node+0x10
                        indirectly lost: only lost blocks point to these 120
                        blocks: those made in libxalloc.so+0x10
                        load+0x10
                        main+0x10
        60 B       6  text+0x10
                        indirectly lost: only lost blocks point to these 6 blocks:
                        those made in libxalloc.so+0x10
                        load+0x10
                        main+0x10
  
  Growing: a leak, or a cache that fills
      bytes  blocks  allocated in
    586 KiB     600  queue+0x10
                       still reachable: 586 KiB, growing 9.75 KiB/s for 59.1 s,
                       all held by a list or tree that hangs on blocks made in
                       hub+0x10; a cache that fills does the same: likely a leak
                       after 5m
                       serve+0x10
                       main+0x10
  
  Caches, pools, too young to tell: probably no leaks
       bytes  blocks  allocated in
    15.6 KiB   1,000  full+0x10
                        still reachable: does not grow: most of it came at one
                        moment, held by the list or tree grown in full+0x10
                        main+0x10
       240 B      10  node+0x10
                        still reachable: not watched for long enough to say
                        whether it grows
                        load+0x10
                        main+0x10
       128 B       2  view+0x10
                        possibly lost: only pointers into the middle of these 2
                        blocks are left; oldest 59.0 s, newest 58.0 s
                        main+0x10
        48 B       1  hub+0x10
                        still reachable: not watched for long enough to say
                        whether it grows
                        serve+0x10
                        main+0x10
        32 B       4  young+0x10
                        possibly lost: only pointers into the middle of these 4
                        blocks are left; all 2.00 s old: too young to tell
                        main+0x10
[1]
$ pmm leaks --show definite,possible leaks.pmm
  demo --serve <all>
    process          demo, pid 4242, ran 60.0 s, running when captured
    searched         1.04 GiB in 600 ms, in a copy; the program was stopped for 3.10 ms
    definitely lost  313 bytes in 4 blocks, 2 sites
    indirectly lost  2,940 bytes in 126 blocks, 2 sites
    possibly lost    160 bytes in 6 blocks, 2 sites
    still reachable  616,288 bytes in 1,611 blocks, 4 sites
  
  Leaks, certain, each with the blocks that only it leads to
       bytes  blocks  allocated in
    3.16 KiB     129  libxalloc.so+0x10
                        definitely lost: nothing points to these 3 blocks any
                        more; oldest 55.0 s, newest 10.0 s
                        300 B in 3 blocks directly, and 2.87 KiB in 126 blocks that only they lead to
                        via libc.so.6+0x98765
                        doc+0x10
                        load+0x10
                        main+0x10
        13 B       1  name+0x10
                        definitely lost: nothing points to this block any more;
                        5.00 s old
                        load+0x10
                        main+0x10
  
  Caches, pools, too young to tell: probably no leaks
    bytes  blocks  allocated in
    128 B       2  view+0x10
                     possibly lost: only pointers into the middle of these 2
                     blocks are left; oldest 59.0 s, newest 58.0 s
                     main+0x10
     32 B       4  young+0x10
                     possibly lost: only pointers into the middle of these 4
                     blocks are left; all 2.00 s old: too young to tell
                     main+0x10
  
    15.9 KiB in 1,011 blocks at 3 sites: still reachable, probably no leaks (--show=all lists them)
[1]
$ pmm leaks --show all --json leaks.pmm
  {
    "schema": "pmm-leaks/1.2",
    "process": {
      "pid": 4242,
      "ppid": 17,
      "comm": "demo",
      "exe": "/usr/bin/demo",
      "cmdline": "demo --serve <all>",
      "host": "box",
      "start_realtime_ns": 1700000000000000000,
      "taken_realtime_ns": 1700000060000000000,
      "run_ns": 60000000000,
      "end": "running",
      "began": "exec"
    },
    "search": {
      "how": "copy",
      "complete": true,
      "at_ns": 60000000000,
      "pause_ns": 3100000,
      "took_ns": 600000000,
      "read_bytes": 1121976320,
      "unread_bytes": 0,
      "held_bytes": 0,
      "late": false,
      "slack_blocks": 0,
      "unjudged_sites": 0
    },
    "totals": [
      {"class": "definite", "bytes": 313, "blocks": 4, "sites": 2},
      {"class": "indirect", "bytes": 2940, "blocks": 126, "sites": 2},
      {"class": "possible", "bytes": 160, "blocks": 6, "sites": 2},
      {"class": "reachable", "bytes": 616288, "blocks": 1611, "sites": 4},
      {"class": "suppressed", "bytes": 0, "blocks": 0, "sites": 0}
    ],
    "pools": [],
    "warnings": [],
    "certain": [
      {
        "class": "definite",
        "verdict": "certain",
        "why": "nothing points to these 3 blocks any more; oldest 55.0 s, newest 10.0 s",
        "bytes": 300,
        "blocks": 3,
        "indirect_bytes": 2940,
        "indirect_blocks": 126,
        "new_bytes": 300,
        "new_blocks": 3,
        "oldest_age_ns": 55000000000,
        "newest_age_ns": 10000000000,
        "chained_blocks": 0,
        "site": 1,
        "module": "libxalloc.so",
        "module_offset": "0x10",
        "pc": "0x800010",
        "frames": [
          {"module": "/lib/demo/libc.so.6", "module_offset": "0x98765", "pc": "0x998765", "inlined": false, "role": "runtime"},
          {"module": "libxalloc.so", "module_offset": "0x10", "pc": "0x800010", "inlined": false, "role": "program"},
          {"module": "doc", "module_offset": "0x10", "pc": "0x700010", "inlined": false, "role": "program"},
          {"module": "load", "module_offset": "0x10", "pc": "0x600010", "inlined": false, "role": "program"},
          {"module": "main", "module_offset": "0x10", "pc": "0x500010", "inlined": false, "role": "program"}
        ]
      },
      {
        "class": "definite",
        "verdict": "certain",
        "why": "nothing points to this block any more; 5.00 s old",
        "bytes": 13,
        "blocks": 1,
        "indirect_bytes": 0,
        "indirect_blocks": 0,
        "new_bytes": 13,
        "new_blocks": 1,
        "oldest_age_ns": 5000000000,
        "newest_age_ns": 5000000000,
        "chained_blocks": 0,
        "site": 4,
        "module": "name",
        "module_offset": "0x10",
        "pc": "0xc00010",
        "frames": [
          {"module": "name", "module_offset": "0x10", "pc": "0xc00010", "inlined": false, "role": "program"},
          {"module": "load", "module_offset": "0x10", "pc": "0x600010", "inlined": false, "role": "program"},
          {"module": "main", "module_offset": "0x10", "pc": "0x500010", "inlined": false, "role": "program"}
        ]
      },
      {
        "class": "indirect",
        "verdict": "certain",
        "why": "only lost blocks point to these 120 blocks: those made in libxalloc.so+0x10",
        "bytes": 2880,
        "blocks": 120,
        "indirect_bytes": 0,
        "indirect_blocks": 0,
        "new_bytes": 2880,
        "new_blocks": 120,
        "oldest_age_ns": 55000000000,
        "newest_age_ns": 10000000000,
        "holder_function": "libxalloc.so+0x10",
        "held_blocks": 120,
        "chained_blocks": 0,
        "site": 2,
        "module": "node",
        "module_offset": "0x10",
        "pc": "0xa00010",
        "frames": [
          {"module": "node", "module_offset": "0x10", "pc": "0xa00010", "inlined": false, "role": "program"},
          {"module": "load", "module_offset": "0x10", "pc": "0x600010", "inlined": false, "role": "program"},
          {"module": "main", "module_offset": "0x10", "pc": "0x500010", "inlined": false, "role": "program"}
        ]
      },
      {
        "class": "indirect",
        "verdict": "certain",
        "why": "only lost blocks point to these 6 blocks: those made in libxalloc.so+0x10",
        "bytes": 60,
        "blocks": 6,
        "indirect_bytes": 0,
        "indirect_blocks": 0,
        "new_bytes": 60,
        "new_blocks": 6,
        "oldest_age_ns": 54000000000,
        "newest_age_ns": 53000000000,
        "holder_function": "libxalloc.so+0x10",
        "held_blocks": 6,
        "chained_blocks": 0,
        "site": 3,
        "module": "text",
        "module_offset": "0x10",
        "pc": "0xb00010",
        "frames": [
          {"module": "text", "module_offset": "0x10", "pc": "0xb00010", "inlined": false, "role": "program"},
          {"module": "load", "module_offset": "0x10", "pc": "0x600010", "inlined": false, "role": "program"},
          {"module": "main", "module_offset": "0x10", "pc": "0x500010", "inlined": false, "role": "program"}
        ]
      }
    ],
    "likely": [],
    "growing": [
      {
        "class": "reachable",
        "verdict": "growing",
        "why": "586 KiB, growing 9.75 KiB/s for 59.1 s, all held by a list or tree that hangs on blocks made in hub+0x10; a cache that fills does the same: likely a leak after 5m",
        "bytes": 600000,
        "blocks": 600,
        "indirect_bytes": 0,
        "indirect_blocks": 0,
        "new_bytes": 600000,
        "new_blocks": 600,
        "oldest_age_ns": 60000000000,
        "newest_age_ns": 0,
        "growth_bytes_per_second": 9983.452991452992,
        "growth_ns": 59062500000,
        "evidence": "steady many spread pace kept",
        "holder_function": "hub+0x10",
        "held_blocks": 600,
        "chained_blocks": 599,
        "site": 6,
        "module": "queue",
        "module_offset": "0x10",
        "pc": "0xf00010",
        "frames": [
          {"module": "queue", "module_offset": "0x10", "pc": "0xf00010", "inlined": false, "role": "program"},
          {"module": "serve", "module_offset": "0x10", "pc": "0xe00010", "inlined": false, "role": "program"},
          {"module": "main", "module_offset": "0x10", "pc": "0x500010", "inlined": false, "role": "program"}
        ]
      }
    ],
    "unlikely": [
      {
        "class": "reachable",
        "verdict": "unlikely",
        "why": "does not grow: most of it came at one moment, held by the list or tree grown in full+0x10",
        "bytes": 16000,
        "blocks": 1000,
        "indirect_bytes": 0,
        "indirect_blocks": 0,
        "new_bytes": 16000,
        "new_blocks": 1000,
        "oldest_age_ns": 60000000000,
        "newest_age_ns": 50000000000,
        "chained_blocks": 999,
        "site": 8,
        "module": "full",
        "module_offset": "0x10",
        "pc": "0x1100010",
        "frames": [
          {"module": "full", "module_offset": "0x10", "pc": "0x1100010", "inlined": false, "role": "program"},
          {"module": "main", "module_offset": "0x10", "pc": "0x500010", "inlined": false, "role": "program"}
        ]
      },
      {
        "class": "reachable",
        "verdict": "unlikely",
        "why": "not watched for long enough to say whether it grows",
        "bytes": 240,
        "blocks": 10,
        "indirect_bytes": 0,
        "indirect_blocks": 0,
        "new_bytes": 240,
        "new_blocks": 10,
        "oldest_age_ns": 55000000000,
        "newest_age_ns": 10000000000,
        "chained_blocks": 0,
        "site": 2,
        "module": "node",
        "module_offset": "0x10",
        "pc": "0xa00010",
        "frames": [
          {"module": "node", "module_offset": "0x10", "pc": "0xa00010", "inlined": false, "role": "program"},
          {"module": "load", "module_offset": "0x10", "pc": "0x600010", "inlined": false, "role": "program"},
          {"module": "main", "module_offset": "0x10", "pc": "0x500010", "inlined": false, "role": "program"}
        ]
      },
      {
        "class": "possible",
        "verdict": "unlikely",
        "why": "only pointers into the middle of these 2 blocks are left; oldest 59.0 s, newest 58.0 s",
        "bytes": 128,
        "blocks": 2,
        "indirect_bytes": 0,
        "indirect_blocks": 0,
        "new_bytes": 128,
        "new_blocks": 2,
        "oldest_age_ns": 59000000000,
        "newest_age_ns": 58000000000,
        "chained_blocks": 0,
        "site": 5,
        "module": "view",
        "module_offset": "0x10",
        "pc": "0xd00010",
        "frames": [
          {"module": "view", "module_offset": "0x10", "pc": "0xd00010", "inlined": false, "role": "program"},
          {"module": "main", "module_offset": "0x10", "pc": "0x500010", "inlined": false, "role": "program"}
        ]
      },
      {
        "class": "reachable",
        "verdict": "unlikely",
        "why": "not watched for long enough to say whether it grows",
        "bytes": 48,
        "blocks": 1,
        "indirect_bytes": 0,
        "indirect_blocks": 0,
        "new_bytes": 48,
        "new_blocks": 1,
        "oldest_age_ns": 60000000000,
        "newest_age_ns": 60000000000,
        "chained_blocks": 0,
        "site": 7,
        "module": "hub",
        "module_offset": "0x10",
        "pc": "0x1000010",
        "frames": [
          {"module": "hub", "module_offset": "0x10", "pc": "0x1000010", "inlined": false, "role": "program"},
          {"module": "serve", "module_offset": "0x10", "pc": "0xe00010", "inlined": false, "role": "program"},
          {"module": "main", "module_offset": "0x10", "pc": "0x500010", "inlined": false, "role": "program"}
        ]
      },
      {
        "class": "possible",
        "verdict": "unlikely",
        "why": "only pointers into the middle of these 4 blocks are left; all 2.00 s old: too young to tell",
        "bytes": 32,
        "blocks": 4,
        "indirect_bytes": 0,
        "indirect_blocks": 0,
        "new_bytes": 32,
        "new_blocks": 4,
        "oldest_age_ns": 2000000000,
        "newest_age_ns": 2000000000,
        "chained_blocks": 0,
        "site": 9,
        "module": "young",
        "module_offset": "0x10",
        "pc": "0x1200010",
        "frames": [
          {"module": "young", "module_offset": "0x10", "pc": "0x1200010", "inlined": false, "role": "program"},
          {"module": "main", "module_offset": "0x10", "pc": "0x500010", "inlined": false, "role": "program"}
        ]
      }
    ],
    "suppressed": [],
    "others": [],
    "left_out": {
      "certain": 0,
      "likely": 0,
      "growing": 0,
      "unlikely": 0,
      "suppressed": 0,
      "others": 0,
      "not_new": 0
    }
  }
[1]
$ pmm leaks --show all --format valgrind-xml leaks.pmm
  <?xml version="1.0"?>
  
  <valgrindoutput>
  
  <protocolversion>4</protocolversion>
  <protocoltool>memcheck</protocoltool>
  
  <preamble>
    <line>pmm, in the form of Valgrind's memcheck</line>
    <line>demo --serve &lt;all&gt;</line>
  </preamble>
  
  <pid>4242</pid>
  <ppid>17</ppid>
  <tool>memcheck</tool>
  
  <args>
    <vargv>
      <exe>pmm</exe>
      <arg>leaks</arg>
    </vargv>
    <argv>
      <exe>/usr/bin/demo</exe>
    </argv>
  </args>
  
  <status>
    <state>RUNNING</state>
    <time>00:00:00:00.000 </time>
  </status>
  
  <status>
    <state>FINISHED</state>
    <time>00:00:01:00.000 </time>
  </status>
  
  <error>
    <unique>0x0</unique>
    <tid>1</tid>
    <kind>Leak_DefinitelyLost</kind>
    <xwhat>
      <text>3240 (300 direct, 2940 indirect) bytes in 3 blocks are definitely lost in loss record 1 of 10</text>
      <leakedbytes>3240</leakedbytes>
      <leakedblocks>3</leakedblocks>
    </xwhat>
    <stack>
      <frame>
        <ip>0x0</ip>
        <fn>calloc</fn>
      </frame>
      <frame>
        <ip>0x998765</ip>
        <obj>/lib/demo/libc.so.6</obj>
      </frame>
      <frame>
        <ip>0x800010</ip>
        <obj>libxalloc.so</obj>
      </frame>
      <frame>
        <ip>0x700010</ip>
        <obj>doc</obj>
      </frame>
      <frame>
        <ip>0x600010</ip>
        <obj>load</obj>
      </frame>
      <frame>
        <ip>0x500010</ip>
        <obj>main</obj>
      </frame>
    </stack>
    <auxwhat>nothing points to these 3 blocks any more; oldest 55.0 s, newest 10.0 s</auxwhat>
  </error>
  
  <error>
    <unique>0x1</unique>
    <tid>1</tid>
    <kind>Leak_DefinitelyLost</kind>
    <xwhat>
      <text>13 bytes in 1 blocks are definitely lost in loss record 2 of 10</text>
      <leakedbytes>13</leakedbytes>
      <leakedblocks>1</leakedblocks>
    </xwhat>
    <stack>
      <frame>
        <ip>0x0</ip>
        <fn>malloc</fn>
      </frame>
      <frame>
        <ip>0xC00010</ip>
        <obj>name</obj>
      </frame>
      <frame>
        <ip>0x600010</ip>
        <obj>load</obj>
      </frame>
      <frame>
        <ip>0x500010</ip>
        <obj>main</obj>
      </frame>
    </stack>
    <auxwhat>nothing points to this block any more; 5.00 s old</auxwhat>
  </error>
  
  <error>
    <unique>0x2</unique>
    <tid>1</tid>
    <kind>Leak_IndirectlyLost</kind>
    <xwhat>
      <text>2880 bytes in 120 blocks are indirectly lost in loss record 3 of 10</text>
      <leakedbytes>2880</leakedbytes>
      <leakedblocks>120</leakedblocks>
    </xwhat>
    <stack>
      <frame>
        <ip>0x0</ip>
        <fn>operator new(unsigned long)</fn>
      </frame>
      <frame>
        <ip>0xA00010</ip>
        <obj>node</obj>
      </frame>
      <frame>
        <ip>0x600010</ip>
        <obj>load</obj>
      </frame>
      <frame>
        <ip>0x500010</ip>
        <obj>main</obj>
      </frame>
    </stack>
    <auxwhat>only lost blocks point to these 120 blocks: those made in libxalloc.so+0x10</auxwhat>
  </error>
  
  <error>
    <unique>0x3</unique>
    <tid>1</tid>
    <kind>Leak_IndirectlyLost</kind>
    <xwhat>
      <text>60 bytes in 6 blocks are indirectly lost in loss record 4 of 10</text>
      <leakedbytes>60</leakedbytes>
      <leakedblocks>6</leakedblocks>
    </xwhat>
    <stack>
      <frame>
        <ip>0x0</ip>
        <fn>malloc</fn>
      </frame>
      <frame>
        <ip>0xB00010</ip>
        <obj>text</obj>
      </frame>
      <frame>
        <ip>0x600010</ip>
        <obj>load</obj>
      </frame>
      <frame>
        <ip>0x500010</ip>
        <obj>main</obj>
      </frame>
    </stack>
    <auxwhat>only lost blocks point to these 6 blocks: those made in libxalloc.so+0x10</auxwhat>
  </error>
  
  <error>
    <unique>0x4</unique>
    <tid>1</tid>
    <kind>Leak_StillReachable</kind>
    <xwhat>
      <text>600000 bytes in 600 blocks are still reachable in loss record 5 of 10</text>
      <leakedbytes>600000</leakedbytes>
      <leakedblocks>600</leakedblocks>
    </xwhat>
    <stack>
      <frame>
        <ip>0x0</ip>
        <fn>malloc</fn>
      </frame>
      <frame>
        <ip>0xF00010</ip>
        <obj>queue</obj>
      </frame>
      <frame>
        <ip>0xE00010</ip>
        <obj>serve</obj>
      </frame>
      <frame>
        <ip>0x500010</ip>
        <obj>main</obj>
      </frame>
    </stack>
    <auxwhat>586 KiB, growing 9.75 KiB/s for 59.1 s, all held by a list or tree that hangs on blocks made in hub+0x10; a cache that fills does the same: likely a leak after 5m</auxwhat>
  </error>
  
  <error>
    <unique>0x5</unique>
    <tid>1</tid>
    <kind>Leak_StillReachable</kind>
    <xwhat>
      <text>16000 bytes in 1000 blocks are still reachable in loss record 6 of 10</text>
      <leakedbytes>16000</leakedbytes>
      <leakedblocks>1000</leakedblocks>
    </xwhat>
    <stack>
      <frame>
        <ip>0x0</ip>
        <fn>malloc</fn>
      </frame>
      <frame>
        <ip>0x1100010</ip>
        <obj>full</obj>
      </frame>
      <frame>
        <ip>0x500010</ip>
        <obj>main</obj>
      </frame>
    </stack>
    <auxwhat>does not grow: most of it came at one moment, held by the list or tree grown in full+0x10</auxwhat>
  </error>
  
  <error>
    <unique>0x6</unique>
    <tid>1</tid>
    <kind>Leak_StillReachable</kind>
    <xwhat>
      <text>240 bytes in 10 blocks are still reachable in loss record 7 of 10</text>
      <leakedbytes>240</leakedbytes>
      <leakedblocks>10</leakedblocks>
    </xwhat>
    <stack>
      <frame>
        <ip>0x0</ip>
        <fn>operator new(unsigned long)</fn>
      </frame>
      <frame>
        <ip>0xA00010</ip>
        <obj>node</obj>
      </frame>
      <frame>
        <ip>0x600010</ip>
        <obj>load</obj>
      </frame>
      <frame>
        <ip>0x500010</ip>
        <obj>main</obj>
      </frame>
    </stack>
    <auxwhat>not watched for long enough to say whether it grows</auxwhat>
  </error>
  
  <error>
    <unique>0x7</unique>
    <tid>1</tid>
    <kind>Leak_PossiblyLost</kind>
    <xwhat>
      <text>128 bytes in 2 blocks are possibly lost in loss record 8 of 10</text>
      <leakedbytes>128</leakedbytes>
      <leakedblocks>2</leakedblocks>
    </xwhat>
    <stack>
      <frame>
        <ip>0x0</ip>
        <fn>malloc</fn>
      </frame>
      <frame>
        <ip>0xD00010</ip>
        <obj>view</obj>
      </frame>
      <frame>
        <ip>0x500010</ip>
        <obj>main</obj>
      </frame>
    </stack>
    <auxwhat>only pointers into the middle of these 2 blocks are left; oldest 59.0 s, newest 58.0 s</auxwhat>
  </error>
  
  <error>
    <unique>0x8</unique>
    <tid>1</tid>
    <kind>Leak_StillReachable</kind>
    <xwhat>
      <text>48 bytes in 1 blocks are still reachable in loss record 9 of 10</text>
      <leakedbytes>48</leakedbytes>
      <leakedblocks>1</leakedblocks>
    </xwhat>
    <stack>
      <frame>
        <ip>0x0</ip>
        <fn>malloc</fn>
      </frame>
      <frame>
        <ip>0x1000010</ip>
        <obj>hub</obj>
      </frame>
      <frame>
        <ip>0xE00010</ip>
        <obj>serve</obj>
      </frame>
      <frame>
        <ip>0x500010</ip>
        <obj>main</obj>
      </frame>
    </stack>
    <auxwhat>not watched for long enough to say whether it grows</auxwhat>
  </error>
  
  <error>
    <unique>0x9</unique>
    <tid>1</tid>
    <kind>Leak_PossiblyLost</kind>
    <xwhat>
      <text>32 bytes in 4 blocks are possibly lost in loss record 10 of 10</text>
      <leakedbytes>32</leakedbytes>
      <leakedblocks>4</leakedblocks>
    </xwhat>
    <stack>
      <frame>
        <ip>0x0</ip>
        <fn>malloc</fn>
      </frame>
      <frame>
        <ip>0x1200010</ip>
        <obj>young</obj>
      </frame>
      <frame>
        <ip>0x500010</ip>
        <obj>main</obj>
      </frame>
    </stack>
    <auxwhat>only pointers into the middle of these 4 blocks are left; all 2.00 s old: too young to tell</auxwhat>
  </error>
  
  <errorcounts>
  </errorcounts>
  
  <suppcounts>
  </suppcounts>
  
  </valgrindoutput>
[1]
$ pmm leaks --top 1 --no-symbols leaks.pmm
  demo --serve <all>
    process          demo, pid 4242, ran 60.0 s, running when captured
    searched         1.04 GiB in 600 ms, in a copy; the program was stopped for 3.10 ms
    definitely lost  313 bytes in 4 blocks, 2 sites
    indirectly lost  2,940 bytes in 126 blocks, 2 sites
    possibly lost    160 bytes in 6 blocks, 2 sites
    still reachable  616,288 bytes in 1,611 blocks, 4 sites
  
  Leaks, certain, each with the blocks that only it leads to
       bytes  blocks  allocated in
    3.16 KiB     129  libxalloc.so+0x10
                        definitely lost: nothing points to these 3 blocks any
                        more; oldest 55.0 s, newest 10.0 s
                        300 B in 3 blocks directly, and 2.87 KiB in 126 blocks that only they lead to
                        via libc.so.6+0x98765
                        doc+0x10
                        load+0x10
                        main+0x10
    1 more (--top 0 shows all)
  
  Growing: a leak, or a cache that fills
      bytes  blocks  allocated in
    586 KiB     600  queue+0x10
                       still reachable: 586 KiB, growing 9.75 KiB/s for 59.1 s,
                       all held by a list or tree that hangs on blocks made in
                       hub+0x10; a cache that fills does the same: likely a leak
                       after 5m
                       serve+0x10
                       main+0x10
  
    160 B in 6 blocks at 2 sites: possibly lost, and nothing else speaks for leaks (--show=possible lists them)
    15.9 KiB in 1,011 blocks at 3 sites: still reachable, probably no leaks (--show=all lists them)
[1]
$ pmm leaks --fail-on=definite leaks.pmm >/dev/null
[1]
$ pmm leaks --fail-on=growth leaks.pmm >/dev/null
[1]
$ pmm leaks --fail-on=nothing leaks.pmm
  pmm: 'nothing' is no value of '--fail-on'
  pmm: hint: one or more of definite, indirect, possible, reachable, likely, growth, unsearched, none, separated by commas
[2]
$ pmm leaks --fail-on= leaks.pmm
  pmm: '' is no value of '--fail-on'
  pmm: hint: one or more of definite, indirect, possible, reachable, likely, growth, unsearched, none, separated by commas
[2]
$ pmm leaks --error-exitcode 9 leaks.pmm >/dev/null
[9]
$ pmm leaks --error-exitcode 9 --max-leaked 1M leaks.pmm >/dev/null
$ pmm leaks --max-leaked 1 leaks.pmm >/dev/null
[1]
$ pmm leaks --max-leaked 3252 leaks.pmm >/dev/null
[1]
$ pmm leaks --max-leaked 3253 leaks.pmm >/dev/null
$ pmm leaks --show nonsense leaks.pmm
  pmm: 'nonsense' is no value of '--show'
  pmm: hint: one or more of definite, indirect, possible, reachable, likely, growing, suppressed, all, separated by commas
[2]
$ pmm leaks --format xml leaks.pmm
  pmm: 'xml' is not a choice of --format
  pmm: hint: one of: text, json, valgrind-xml, sarif, junit
[2]
$ pmm leaks --json --format valgrind-xml leaks.pmm
  pmm: '--json' and '--format' contradict each other
  pmm: hint: leave out one of them
[2]
$ pmm leaks --report out.txt leaks.pmm; head -3 out.txt
  demo --serve <all>
    process          demo, pid 4242, ran 60.0 s, running when captured
    searched         1.04 GiB in 600 ms, in a copy; the program was stopped for 3.10 ms
$ pmm leaks --report /dev/full leaks.pmm
  pmm: cannot write the verdict: No space left on device
[3]
$ pmm leaks --report no/such/dir leaks.pmm
  pmm: cannot write to 'no/such/dir': No such file or directory
  pmm: hint: name a file in a directory that you may write to
[3]
$ printf '{\n  name\n  Memcheck:Leak\n  fun:*\n}\n' >s.supp; pmm leaks --suppressions s.supp leaks.pmm | tail -8
    searched         1.04 GiB in 600 ms, in a copy; the program was stopped for 3.10 ms
    definitely lost  0 bytes in 0 blocks
    indirectly lost  0 bytes in 0 blocks
    possibly lost    0 bytes in 0 blocks
    still reachable  0 bytes in 0 blocks
    suppressed       619,701 bytes in 1,747 blocks, 9 sites
  
    no leaks were found
$ pmm leaks --suppressions none leaks.pmm
  pmm: cannot read the suppressions in 'none': No such file or directory
  pmm: hint: name a file in Valgrind's or LeakSanitizer's form; 'pmm leaks --gen-suppressions' writes one
[3]
$ pmm leaks --gen-suppressions leaks.pmm
  {
     libxalloc.so, definite
     Memcheck:Leak
     match-leak-kinds: definite
     fun:calloc
     obj:/lib/demo/libc.so.6
     obj:libxalloc.so
     obj:doc
     obj:load
     obj:main
  }
  {
     name, definite
     Memcheck:Leak
     match-leak-kinds: definite
     fun:malloc
     obj:name
     obj:load
     obj:main
  }
  {
     queue, reachable
     Memcheck:Leak
     match-leak-kinds: reachable
     fun:malloc
     obj:queue
     obj:serve
     obj:main
  }
[1]
$ pmm leaks demo.pmm
  pmm: the process of this capture was not searched for leaks
  pmm: hint: record another with 'pmm run --leaks', search a running process with 'pmm leaks PID', or a core file with 'pmm leaks --core CORE FILE'
[3]
$ pmm leaks --fail-on=definite demo.pmm
  pmm: the process of this capture was not searched for leaks
  pmm: hint: record another with 'pmm run --leaks', search a running process with 'pmm leaks PID', or a core file with 'pmm leaks --core CORE FILE'
[3]
$ pmm leaks --tag-bits 3 leaks.pmm
  pmm: '--tag-bits' is for a search, and a capture has only the result of one
  pmm: hint: search anew with it: pmm leaks PID, pmm leaks -- COMMAND, or pmm leaks --core CORE FILE
[2]
$ pmm leaks --heuristics none leaks.pmm
  pmm: '--heuristics' is for a search, and a capture has only the result of one
  pmm: hint: search anew with it: pmm leaks PID, pmm leaks -- COMMAND, or pmm leaks --core CORE FILE
[2]
$ pmm leaks --heuristics nonsense leaks.pmm
  pmm: 'nonsense' is no value of '--heuristics'
  pmm: hint: one or more of stdstring, length64, newarray, multipleinheritance, header, pool, all, none, separated by commas
[2]
$ pmm leaks
  pmm: 'pmm leaks' needs an argument
  pmm: hint: usage: pmm leaks [options] FILE|PID|-- COMMAND [ARGUMENT...]
[2]
$ pmm leaks a b
  pmm: one capture or process at a time
  pmm: hint: a program is run with '--' before it: pmm leaks -- COMMAND
[2]
$ pmm leaks no/such
  pmm: cannot open 'no/such': No such file or directory
  pmm: hint: name a capture or the number of a process; a program is run with '--' before it: pmm leaks -- no/such
[3]
$ cp /bin/true prog; pmm leaks ./prog
  pmm: './prog' is not a pmm capture
  pmm: hint: a program is run with '--' before it: pmm leaks -- ./prog
[3]
$ pmm leaks --fail-on=definite make
  pmm: cannot open 'make': No such file or directory
  pmm: hint: name a capture or the number of a process; a program is run with '--' before it: pmm leaks -- make
[3]
$ pmm leaks -o x.pmm ./prog
  pmm: '--output' is for a COMMAND
  pmm: hint: a program is run with '--' before it: pmm leaks -o ... -- COMMAND
[2]
$ pmm leaks ./prog -x
  pmm: unknown option '-x'
  pmm: hint: 'pmm leaks --help' lists the options; those of a program go after '--': pmm leaks -- COMMAND
[2]
$ pmm leaks 999999999
  pmm: no process 999999999
  pmm: hint: when it has ended, name its capture, pmm.COMMAND.999999999.pmm as a rule
[3]
$ pmm leaks --every 1 leaks.pmm
  pmm: '--every' is for a search, and a capture has only the result of one
  pmm: hint: search anew with it: pmm leaks PID, pmm leaks -- COMMAND, or pmm leaks --core CORE FILE
[2]
$ pmm leaks --count 3 leaks.pmm
  pmm: '--count' needs '--every'
  pmm: hint: such as --every 10s
[2]
$ pmm leaks -o x.pmm leaks.pmm
[1]
$ pmm leaks -- no/such/program
  pmm: cannot find the program 'no/such/program'
  pmm: hint: check the spelling and PATH, or give its path
[3]
$ pmm leaks leaks.pmm >/dev/full
  pmm: cannot write the verdict: No space left on device
[3]
# Who holds what grows: nobody, itself, blocks of another site, all or most of it, in a list or not.
$ mkcapture /dev/stdin holders.pmm <<'END'
> process comm=holders cmdline=holders pid=7 taken=60s end=running
> site main>direct allocs=600 size=1000 first=0s last=60s
> site main>list allocs=600 size=900 first=0s last=60s
> site main>most allocs=600 size=800 first=0s last=60s
> site main>nearly allocs=600 size=700 first=0s last=60s
> site main>half allocs=600 size=600 first=0s last=60s
> site main>quiet allocs=10 size=60 first=0s last=1s
> site main>hub allocs=1 size=48 first=0s
> search copy complete pause=3100us took=600ms read=1M
> leak main>direct reachable blocks=600 bytes=600000 oldest=0s newest=60s
> leak main>list reachable blocks=600 bytes=540000 oldest=0s newest=60s chained=301
> leak main>most reachable blocks=600 bytes=480000 oldest=0s newest=60s holder=main>hub held=599
> leak main>nearly reachable blocks=600 bytes=420000 oldest=0s newest=60s holder=main>hub held=599 chained=400
> leak main>half reachable blocks=600 bytes=360000 oldest=0s newest=60s holder=main>hub held=600 chained=300
> leak main>quiet reachable blocks=10 bytes=600 oldest=0s newest=1s
> leak main>hub reachable blocks=1 bytes=48 oldest=0s
> END
$ pmm leaks holders.pmm
  holders
    process          holders, pid 7, ran 60.0 s, running when captured
    searched         1.00 MiB in 600 ms, in a copy; the program was stopped for 3.10 ms
    definitely lost  0 bytes in 0 blocks
    indirectly lost  0 bytes in 0 blocks
    possibly lost    0 bytes in 0 blocks
    still reachable  2,400,648 bytes in 3,011 blocks, 7 sites
  
  Growing: a leak, or a cache that fills
      bytes  blocks  allocated in
    586 KiB     600  direct+0x10
                       still reachable: 586 KiB, growing 9.75 KiB/s for 59.1 s,
                       pointed to by variables or stacks directly; a cache that
                       fills does the same: likely a leak after 5m
                       main+0x10
    527 KiB     600  list+0x10
                       still reachable: 527 KiB, growing 8.77 KiB/s for 59.1 s,
                       held by the list or tree grown in list+0x10; a cache that
                       fills does the same: likely a leak after 5m
                       main+0x10
    469 KiB     600  most+0x10
                       still reachable: 469 KiB, growing 7.80 KiB/s for 59.1 s,
                       most held by blocks made in hub+0x10; a cache that fills
                       does the same: likely a leak after 5m
                       main+0x10
    410 KiB     600  nearly+0x10
                       still reachable: 410 KiB, growing 6.82 KiB/s for 59.1 s,
                       most held by a list or tree that hangs on blocks made in
                       hub+0x10; a cache that fills does the same: likely a leak
                       after 5m
                       main+0x10
    352 KiB     600  half+0x10
                       still reachable: 352 KiB, growing 5.85 KiB/s for 59.1 s,
                       all held by blocks made in hub+0x10; a cache that fills
                       does the same: likely a leak after 5m
                       main+0x10
  
    648 B in 11 blocks at 2 sites: still reachable, probably no leaks (--show=all lists them)
$ pmm leaks --show=all --json holders.pmm | jq -r '.. | .why? // empty'
  586 KiB, growing 9.75 KiB/s for 59.1 s, pointed to by variables or stacks directly; a cache that fills does the same: likely a leak after 5m
  527 KiB, growing 8.77 KiB/s for 59.1 s, held by the list or tree grown in list+0x10; a cache that fills does the same: likely a leak after 5m
  469 KiB, growing 7.80 KiB/s for 59.1 s, most held by blocks made in hub+0x10; a cache that fills does the same: likely a leak after 5m
  410 KiB, growing 6.82 KiB/s for 59.1 s, most held by a list or tree that hangs on blocks made in hub+0x10; a cache that fills does the same: likely a leak after 5m
  352 KiB, growing 5.85 KiB/s for 59.1 s, all held by blocks made in hub+0x10; a cache that fills does the same: likely a leak after 5m
  not watched for long enough to say whether it grows
  not watched for long enough to say whether it grows
