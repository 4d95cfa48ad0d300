# SPDX-License-Identifier: GPL-2.0-or-later
# Numbers that differ each time, as words.
$ cat >words <<'END'
> sed -E -e 's/\b([Pp]rocess|pid|attach|report|snapshot|--check|detach) [0-9]+/\1 N/g' -e 's/\(([0-9]+)\)/(N)/g' -e 's/\.[0-9]+\.pmm/.N.pmm/g' \
> -e 's/(less than |under )?[0-9.]+ (ms|us|s)\b/TIME/g' -e 's/in the first TIME/after TIME/' -e 's/^ *TIME  /TIME  /' -e 's/0x[0-9a-f]{6,}/ADDRESS/g' -e 's/[0-9.]+ [KM]iB in TIME/SIZE in TIME/' \
> -e "s#$BUILD#BUILD#g" -e "s#$PWD#HERE#g" -e "s#$SOURCE#SOURCE#g"
> END
# again CAPTURE: all of a report but what differs each time.
$ cat >again <<'END'
> pmm report --json --blocks --top 0 $1 | jq -c '
>     def program: [.frames[] | select(.role == "program" and .function) | .function] | join("<") | .[:60];
>     (.totals | [.mode, .allocs, .frees, .allocated_bytes, .freed_bytes, .live_bytes, .live_blocks, .peak_bytes, .temporary, .failed, .zero_size, .untracked_frees, .sites]),
>     (.threads[] | [.name, .alive, .allocs, .frees, .allocated_bytes, .freed_bytes]),
>     ([.blocks[] | [.size_bytes, .entry, .thread]] | group_by(.) | map([length] + .[0]) | .[:20]),
>     ([.sites[] | select(program != "") | [program, .allocs, .live_bytes, .peak_bytes, (.lifetimes | add)]] | sort | .[]),
>     ([.lifetimes[]? | .frees] | add),
>     (.allocator | [.path | sub(".*/"; "")] + [.arena_bytes > 0]),
>     ([.modules[] | .path | sub(".*/"; "")] | sort)
> ' 2>&1
> END
$ pmm run -q -o c.pmm -- $PROG/blocks >/dev/null; sh again c.pmm
  ["exact",14,8,5613623,24658,5588965,6,5593061,8,0,1,0,10]
  ["blocks",true,14,8,5613623,24658]
  [[1,0,"malloc","blocks"],[1,11,"malloc","blocks"],[1,22,"calloc","blocks"],[1,44,"memalign","blocks"],[1,33333,"realloc","blocks"],[1,5555555,"malloc","blocks"]]
  ["five<main",1,5555555,5555555,0]
  ["four<main",1,44,44,0]
  ["main",1,0,0,1]
  ["main",6,0,4096,6]
  ["one<main",1,11,11,0]
  ["six<main",1,0,0,0]
  ["three<main",1,0,0,1]
  ["three<main",1,33333,33333,0]
  ["two<main",1,22,22,0]
  8
  ["libc.so.6",true]
  ["[vdso]","blocks","ld-linux-x86-64.so.2","libc.so.6","libpmm.so"]
$ pmm run -q -o c.pmm -- $PROG/peak >/dev/null; sh again c.pmm
  ["exact",1952,1752,195000,175000,20000,200,140000,1,0,0,0,8]
  ["peak",true,1952,1752,195000,175000]
  [[200,100,"malloc","peak"]]
  ["after<fill<main",900,0,0,900]
  ["first<fill<main",500,20000,25000,300]
  ["gone<fill<main",50,0,0,50]
  ["grown<main",1,0,0,1]
  ["grown<main",1,0,5000,1]
  ["late<fill<main",400,0,80000,400]
  ["second<fill<main",100,0,30000,100]
  1752
  ["libc.so.6",true]
  ["[vdso]","ld-linux-x86-64.so.2","libc.so.6","libpmm.so","peak"]
$ pmm run -q -o c.pmm -- $PROG/lifetime >/dev/null; sh again c.pmm
  ["exact",1150,1150,22400,22400,0,0,6400,1000,0,0,0,4]
  ["lifetime",true,1150,1150,22400,22400]
  []
  ["a_moment<main",100,0,3200,100]
  ["a_while<main",50,0,3200,50]
  ["briefly<main",1000,0,0,1000]
  1150
  ["libc.so.6",true]
  ["[vdso]","ld-linux-x86-64.so.2","libc.so.6","libpmm.so","lifetime"]
$ pmm run -q -o c.pmm -- $PROG/temporary >/dev/null; sh again c.pmm
  ["exact",4600,4600,260800,260800,0,0,28800,3000,0,0,0,5]
  ["temporary",true,4600,4600,260800,260800]
  []
  ["all_then<main",600,0,28800,600]
  ["at_once<main",3000,0,0,3000]
  ["nested<main",500,0,0,500]
  ["nested<main",500,0,0,500]
  4600
  ["libc.so.6",true]
  ["[vdso]","ld-linux-x86-64.so.2","libc.so.6","libpmm.so","temporary"]
$ pmm run -q -o c.pmm -- $PROG/entries >/dev/null; sh again c.pmm
  ["exact",14,5,2317,731,1586,9,1656,3,0,0,0,15]
  ["entries",true,14,5,2317,731]
  [[1,50,"realloc","entries"],[1,100,"malloc","entries"],[1,120,"calloc","entries"],[1,160,"reallocarray","entries"],[1,180,"posix_memalign","entries"],[1,220,"memalign","entries"],[1,240,"valloc","entries"],[1,256,"aligned_alloc","entries"],[1,260,"pvalloc","entries"]]
  ["and_free<main",1,0,0,1]
  ["and_free<main",1,0,0,1]
  ["by_aligned<main",1,256,256,0]
  ["by_array<main",1,160,160,0]
  ["by_calloc<main",1,120,120,0]
  ["by_malloc<main",1,100,100,0]
  ["by_memalign<main",1,220,220,0]
  ["by_posix<main",1,180,180,0]
  ["by_pvalloc<main",1,260,260,0]
  ["by_realloc<main",1,0,0,1]
  ["by_realloc<main",1,0,0,1]
  ["by_realloc<main",1,50,50,0]
  ["by_valloc<main",1,240,240,0]
  ["to_zero<main",1,0,70,1]
  5
  ["libc.so.6",true]
  ["[vdso]","entries","ld-linux-x86-64.so.2","libc.so.6","libpmm.so"]
$ pmm run -q -o c.pmm -- $PROG/recurse >/dev/null; sh again c.pmm
  ["exact",101,0,1701,0,1701,101,1701,0,0,0,0,4]
  ["recurse",true,101,0,1701,0]
  [[1,1,"malloc","recurse"],[100,17,"malloc","recurse"]]
  ["bottom<down<down<down<down<down<down<down<down<down<down<dow",1,1,1,0]
  ["down<down<down<down<down<down<down<down<down<down<down<down<",99,1683,1683,0]
  ["down<main",1,17,17,0]
  null
  ["libc.so.6",true]
  ["[vdso]","ld-linux-x86-64.so.2","libc.so.6","libpmm.so","recurse"]
$ pmm run -q -o c.pmm -- $PROG/fail >/dev/null; sh again c.pmm
  ["exact",7,0,8389608,0,8389608,7,8389608,0,10,4,0,18]
  ["fail",true,7,0,8389608,0]
  [[1,0,"calloc","fail"],[1,0,"malloc","fail"],[1,0,"posix_memalign","fail"],[1,0,"realloc","fail"],[1,1,"malloc","fail"],[1,1000,"malloc","fail"],[1,8388607,"malloc","fail"]]
  ["enormous<main",1,1,1,0]
  ["enormous<main",1,8388607,8388607,0]
  ["not_grown<main",0,0,0,0]
  ["not_grown<main",1,1000,1000,0]
  ["nothing<main",1,0,0,0]
  ["nothing<main",1,0,0,0]
  ["nothing<main",1,0,0,0]
  ["nothing<main",1,0,0,0]
  ["overflow<main",0,0,0,0]
  ["overflow<main",0,0,0,0]
  ["too_large<main",0,0,0,0]
  ["too_large<main",0,0,0,0]
  ["too_large<main",0,0,0,0]
  ["too_large<main",0,0,0,0]
  ["too_large<main",0,0,0,0]
  ["too_large<main",0,0,0,0]
  ["too_large<main",0,0,0,0]
  null
  ["libc.so.6",true]
  ["[vdso]","fail","ld-linux-x86-64.so.2","libc.so.6","libpmm.so"]
$ pmm run -q -o c.pmm -- $PROG/many 3000 40 >/dev/null; sh again c.pmm
  ["exact",6000,0,123000,0,123000,6000,123000,0,0,0,0,3]
  ["many",true,6000,0,123000,0]
  [[3000,1,"malloc","many"],[3000,40,"malloc","many"]]
  ["many<main",3000,120000,120000,0]
  ["tiny<main",3000,3000,3000,0]
  null
  ["libc.so.6",true]
  ["[vdso]","ld-linux-x86-64.so.2","libc.so.6","libpmm.so","many"]
$ pmm run -q -o c.pmm -- $PROG/cxx_new >/dev/null; sh again c.pmm
  ["exact",21,12,76036,1952,74084,9,74596,12,0,0,0,22]
  ["cxx_new",true,21,12,76036,1952]
  [[1,10,"new","cxx_new"],[1,20,"new[]","cxx_new"],[1,30,"new","cxx_new"],[1,40,"new[]","cxx_new"],[1,128,"new(aligned)","cxx_new"],[1,256,"new[](aligned)","cxx_new"],[1,384,"new(aligned)","cxx_new"],[1,512,"new[](aligned)","cxx_new"],[1,72704,"malloc","cxx_new"]]
  ["aligned()<main",1,0,0,1]
  ["aligned()<main",1,128,128,0]
  ["aligned_array()<main",1,0,0,1]
  ["aligned_array()<main",1,256,256,0]
  ["array()<main",1,0,0,1]
  ["array()<main",1,20,20,0]
  ["main",1,0,0,1]
  ["main",1,0,0,1]
  ["plain()<main",1,0,0,1]
  ["plain()<main",1,10,10,0]
  ["quiet()<main",1,0,0,1]
  ["quiet()<main",1,30,30,0]
  ["quiet_aligned()<main",1,0,0,1]
  ["quiet_aligned()<main",1,384,384,0]
  ["quiet_aligned_array()<main",1,0,512,1]
  ["quiet_aligned_array()<main",1,512,512,0]
  ["quiet_array()<main",1,0,0,1]
  ["quiet_array()<main",1,40,40,0]
  ["sized()<main",1,0,0,1]
  ["sized()<main",1,0,0,1]
  12
  ["libc.so.6",true]
  ["[vdso]","cxx_new","ld-linux-x86-64.so.2","libc.so.6","libgcc_s.so.1","libm.so.6","libpmm.so","libstdc++.so.6.0.30"]
$ pmm run -q -o c.pmm -- $PROG/threads >/dev/null; pmm report --json --blocks --top 0 c.pmm | jq -c '(.threads | sort_by(.name)[] | [.name, .allocs, .frees]), (.blocks | length), (.totals | [.live_bytes, .live_blocks])'
  ["threads",8,4]
  ["worker-0",1000,500]
  ["worker-1",1000,500]
  ["worker-2",1000,500]
  ["worker-3",1000,500]
  ["worker-4",1000,500]
  ["worker-5",1000,500]
  ["worker-6",1000,500]
  ["worker-7",1000,500]
  4004
  [415152,4004]
$ pmm report --json --top 0 --thread worker c.pmm | jq -c '.totals | [.live_bytes, .live_blocks]'
  [415152,4004]
$ pmm run -q -o f.pmm -- $PROG/fork; for c in f*.pmm; do pmm report --json $c | jq -c '[.process.began, .totals.allocs, .totals.untracked_frees]'; done | sort
  ["exec",10,0]
  ["fork",20,1]
$ pmm run -q --frames 2 -o c.pmm -- $PROG/leaf; pmm report --json --no-symbols --top 0 c.pmm | jq -c '[.sites[].frames | length] | sort'
  [2,2]
$ pmm run -q -o c.pmm -- $PROG/leaf; cp c.pmm d.pmm; printf '\377' | dd of=d.pmm bs=1 seek=200 conv=notrunc 2>/dev/null; pmm report d.pmm
  pmm: the capture 'd.pmm' is damaged (what ran): Restored data doesn't match checksum
  pmm: hint: its bytes were changed after it was written; get another copy
[3]
$ head -c 300 c.pmm >d.pmm; pmm report d.pmm
  pmm: the capture 'd.pmm' is cut short (section header)
  pmm: hint: the copy was incomplete, or its disk full; get a whole one
[3]
$ pmm check --level=light -o c.pmm -- $PROG/check_cases behind twice slack >/dev/null 2>&1; pmm check --json c.pmm | jq -c '.check, (.findings[] | [.type, .by, .count, .block_bytes, .kind, .release, .offset_bytes, .size_bytes])'
  {"level":"light","mechanism":"none","findings":3,"findings_lost":0,"left_open":0,"guarded_blocks":0,"guarded_most_blocks":0,"canaried_blocks":3,"unchecked_blocks":0,"unguarded_for_limit":0,"unguarded_for_budget":0,"unguarded_for_size":0,"unguarded_refused":0,"failed_on_purpose":0,"sweeps":1,"other_processes":0,"blocks":3,"unchecked_before_start":0,"unkept_for_size":0,"unkept_in_use":0,"coverage":"all 3 blocks had canaries"}
  ["overrun","release",1,48,"malloc","free",null,null]
  ["double-free","function",1,24,"malloc","free",null,null]
  ["overrun","sweep",1,33,"malloc",null,null,null]
# the tables of a process that runs, frozen again and again
$ cat >frozen <<'END'
> #!/bin/bash
> rm -f in out truth; mkfifo in out
> pmm run -q -o c.pmm "$@" -- $PROG/precopy_victim truth 4 1600 <in >out & monitor=$!
> exec 7>in 8<out
> read -r -t 20 line <&8; echo go >&7; read -r -t 20 line <&8; echo "$line"
> $PROG/precopy_driver truth 2 $HOW 7>&- 8<&- | grep -o 'right times=[0-9]*'
> exec 7>&-; wait $monitor; echo $?
> END
> chmod +x frozen; ./frozen
  running
  right times=2
  0
$ HOW=min=100 ./frozen --min-size 100
  running
  right times=2
  0
$ HOW=sampled ./frozen --sample=4096
  running
  right times=2
  0
