# SPDX-License-Identifier: GPL-2.0-or-later
# told OPTIONS -- PROGRAM ARG...: output and status must be as natively; findings, with the function that they are in.
$ cat >told <<'END'
> options=
> while [ "$1" != -- ]; do options="$options $1"; shift; done
> shift
> program=$PROG/$1; shift
> native=0; checked=0
> "$program" "$@" >native.out 2>native.err || native=$?
> pmm check --json --report found.json --budget all $options -- "$program" "$@" >checked.out 2>checked.err || checked=$?
> cmp -s native.out checked.out || diff native.out checked.out | head -5
> [ $native = $checked ] || { echo "status $checked, natively $native"; head -3 checked.err; }
> jq -r '.findings[] | [.type, .access, .frames[0].function] | map(tostring) | join(" ")' found.json | sort | uniq -c
> END
> chmod +x told
$ ./told -- check_fault_step
        1 overrun read plain
        1 overrun write flags
        1 overrun write plain
        1 underrun write plain
        1 use-after-free execute stopped_twice
        2 use-after-free read plain
        7 use-after-free read repeated
        2 use-after-free read stopped_twice
        2 use-after-free read traced
        1 use-after-free write interrupted
        3 use-after-free write plain
        6 use-after-free write repeated
$ ./told --no-madvise-guard -- check_fault_step
        1 overrun read plain
        1 overrun write flags
        1 overrun write plain
        1 underrun write plain
        1 use-after-free execute stopped_twice
        2 use-after-free read plain
        7 use-after-free read repeated
        2 use-after-free read stopped_twice
        2 use-after-free read traced
        1 use-after-free write interrupted
        3 use-after-free write plain
        6 use-after-free write repeated
$ ./told -- check_fault_near
        1 overrun write behind
        1 underrun write before
$ ./told -- check_fault_masks
       23 overrun read overrun
$ ./told -- check_fault_stack
        1 stack-overflow write deeper
$ ./told -- check_fault_protect
        1 overrun read behind
        1 stack-overflow write deep
        1 use-after-free read copy
        1 use-after-free read stale
$ ./told -- check_fault_signals
        9 overrun read overrun
# how often each thread comes before the page is open again differs
$ ./told -- check_fault_threads | cut -c9-
  use-after-free read touch
  use-after-free write touch
$ ./told -- check_fault_waits
        6 use-after-free read stale
$ for how in $(sed -n 's/.*!strcmp(.*, "\([a-z_]*\)").*/\1/p' $SOURCE/tests/prog/check_fault_death.c | sort -u); do echo $how; ./told -- check_fault_death $how; done
  abort
        1 crash null __pthread_kill_implementation
        1 overrun write main
  blocked
        1 crash write crash
        2 overrun write main
  bus
        1 overrun write main
  fork
        1 crash write crash
        2 overrun write main
  fpe
        1 crash null divide
        1 overrun write main
  handler
        1 crash write crash
        1 overrun write main
  ignored
        1 crash write crash
        1 overrun write main
  ill
        1 crash null main
        1 overrun write main
  jump
        1 overrun write main
  kill
        1 overrun write main
  pending
        1 overrun write main
        1 overrun write pending
  reset
        1 crash write crash
        1 overrun write main
  segv
        1 crash write crash
        1 overrun write main
  stkflt
        1 overrun write main
  thread
        1 crash write crash
        1 overrun write main
  trap
        1 crash null main
        1 overrun write main
  vfork
        1 crash write crash
        1 overrun write main
$ ./told -- check_raw
        1 crash write main
       22 overrun write overrun
$ ./told -- check_process
$ ./told -- check_mapped
$ ./told -- check_inside
        1 use-after-free read __sigismember
        1 use-after-free read in_memcpy
        2 use-after-free read in_sigaction
        1 use-after-free read in_sigprocmask
        1 use-after-free read in_snprintf
        1 use-after-free read in_strcmp
        1 use-after-free read in_strdup
        1 use-after-free read in_strlen
        1 use-after-free read in_wcslen
        1 use-after-free write in_posix_memalign
$ ./told -- check_inherit
$ ./told -- check_forked
$ ./told -- check_fail
$ ./told --level=light -- check_forked
# cases OPTIONS -- CASE...: what check_cases finds; its own output and status.
$ cat >cases <<'END'
> options=
> while [ "$1" != -- ]; do options="$options $1"; shift; done
> shift
> pmm check --json --report found.json --budget all $options -- $PROG/check_cases "$@" 2>err
> echo "status $?"
> head -2 err
> jq -c '.check | [.level, .mechanism, .guarded_blocks, .canaried_blocks, .unguarded_for_limit, .failed_on_purpose, .sweeps]' found.json
> jq -c '.findings[] | [.type, .by, .access, .function_called, .count, .size_bytes, .block_bytes, .kind, .release, .guarded, ([.frames[] | select(.role == "program") | .stack[:1] + " " + .function] | join("<"))]' found.json | sort
> END
> chmod +x cases
$ ./cases --level=light -- clean
  done
  status 5
  ["light","none",0,0,0,0,1]
$ ./cases --level=light -- behind
  done
  status 5
  ["light","none",0,1,0,0,1]
  ["overrun","release","write",null,1,null,48,"malloc","free",false,"e drop<e behind<e do_case<e main<a make<a behind<a do_case<a main"]
$ ./cases --level=light -- after
  done
  status 5
  ["light","none",0,1,0,0,1]
$ ./cases --level=light -- twice
  done
  status 5
  ["light","none",0,1,0,0,1]
  ["double-free","function",null,null,1,null,24,"malloc","free",false,"e drop<e twice<e do_case<e main<a make<a twice<a do_case<a main<f drop<f twice<f do_case<f main"]
$ ./cases --level=light -- slack
  done
  status 5
  ["light","none",0,1,0,0,1]
  ["overrun","sweep","write",null,1,null,33,"malloc",null,false,"a make<a slack<a do_case<a main"]
$ ./cases --level=light -- hold hurt let
  done
  status 5
  ["light","none",0,1,0,0,1]
  ["overrun","release","write",null,1,null,33,"malloc","free",false,"e drop<e do_case<e main<a make<a do_case<a main"]
$ ./cases --level=light -- zero
  done
  status 5
  ["light","none",0,1,0,0,1]
$ ./cases --level=light -- vast
  done
  status 5
  ["light","none",0,0,0,0,1]
$ ./cases --level=light -- new
  new 00
  done
  status 5
  ["light","none",0,1,0,0,1]
$ ./cases --level=light -- fill
  done
  status 5
  ["light","none",0,1,0,0,1]
  ["overrun","function","write","memset",1,49,48,"malloc",null,false,"e fill<e do_case<e main<a make<a fill<a do_case<a main"]
$ ./cases --level=light -- blank
  done
  status 5
  ["light","none",0,1,0,0,1]
$ ./cases --level=light -- thread
  done
  status 5
  ["light","none",0,2,0,0,1]
$ ./cases --level=light -- fork
  done
  status 5
  ["light","none",0,1,0,0,2]
$ ./cases --level=guard -- clean
  done
  status 5
  ["guard","madvise",0,0,0,0,1]
$ ./cases --level=guard -- behind
  done
  status 5
  ["guard","madvise",1,0,0,0,1]
  ["overrun","access","write",null,1,1,48,"malloc",null,true,"e behind<e do_case<e main<a make<a behind<a do_case<a main"]
$ ./cases --level=guard -- after
  done
  status 5
  ["guard","madvise",1,0,0,0,1]
  ["use-after-free","access","read",null,1,4,32,"malloc",null,true,"e after<e do_case<e main<a make<a after<a do_case<a main<f drop<f after<f do_case<f main"]
$ ./cases --level=guard -- twice
  done
  status 5
  ["guard","madvise",1,0,0,0,1]
  ["double-free","function",null,null,1,null,24,"malloc","free",true,"e drop<e twice<e do_case<e main<a make<a twice<a do_case<a main<f drop<f twice<f do_case<f main"]
$ ./cases --level=guard -- slack
  done
  status 5
  ["guard","madvise",1,0,0,0,1]
  ["overrun","sweep","write",null,1,null,33,"malloc",null,true,"a make<a slack<a do_case<a main"]
$ ./cases --level=guard -- hold hurt let
  done
  status 5
  ["guard","madvise",1,0,0,0,1]
  ["overrun","release","write",null,1,null,33,"malloc","free",true,"e drop<e do_case<e main<a make<a do_case<a main"]
$ ./cases --level=guard -- zero
  done
  status 5
  ["guard","madvise",1,0,0,0,1]
$ ./cases --level=guard -- vast
  done
  status 5
  ["guard","madvise",0,0,0,0,1]
$ ./cases --level=guard -- new
  new 00
  done
  status 5
  ["guard","madvise",1,0,0,0,1]
$ ./cases --level=guard -- fill
  done
  status 5
  ["guard","madvise",1,0,0,0,1]
  ["overrun","function","write","memset",1,49,48,"malloc",null,true,"e fill<e do_case<e main<a make<a fill<a do_case<a main"]
$ ./cases --level=guard -- blank
  done
  status 5
  ["guard","madvise",1,0,0,0,1]
$ ./cases --level=guard -- thread
  done
  status 5
  ["guard","madvise",2,0,0,0,1]
$ ./cases --level=guard -- fork
  done
  status 5
  ["guard","madvise",1,0,0,0,2]
  ["use-after-free","access","read",null,1,4,32,"malloc",null,true,"e after<e do_case<e main<a make<a after<a do_case<a main<f drop<f after<f do_case<f main"]
$ ./cases --left -- behind after twice new fill
  new 00
  done
  status 5
  ["guard","madvise",5,0,0,0,1]
  ["double-free","function",null,null,1,null,24,"malloc","free",true,"e drop<e twice<e do_case<e main<a make<a twice<a do_case<a main<f drop<f twice<f do_case<f main"]
  ["overrun","function","write","memset",1,49,48,"malloc",null,true,"e fill<e do_case<e main<a make<a fill<a do_case<a main"]
  ["overrun","release","write",null,1,null,48,"malloc","free",true,"e drop<e behind<e do_case<e main<a make<a behind<a do_case<a main"]
  ["use-after-free","access","read",null,1,4,32,"malloc",null,true,"e after<e do_case<e main<a make<a after<a do_case<a main<f drop<f after<f do_case<f main"]
$ ./cases --right -- behind after twice new fill
  new 00
  done
  status 5
  ["guard","madvise",5,0,0,0,1]
  ["double-free","function",null,null,1,null,24,"malloc","free",true,"e drop<e twice<e do_case<e main<a make<a twice<a do_case<a main<f drop<f twice<f do_case<f main"]
  ["overrun","access","write",null,1,1,48,"malloc",null,true,"e behind<e do_case<e main<a make<a behind<a do_case<a main"]
  ["overrun","function","write","memset",1,49,48,"malloc",null,true,"e fill<e do_case<e main<a make<a fill<a do_case<a main"]
  ["use-after-free","access","read",null,1,4,32,"malloc",null,true,"e after<e do_case<e main<a make<a after<a do_case<a main<f drop<f after<f do_case<f main"]
$ ./cases --left --no-madvise-guard -- behind after twice new fill
  new 00
  done
  status 5
  ["guard","mprotect",5,0,0,0,1]
  ["double-free","function",null,null,1,null,24,"malloc","free",true,"e drop<e twice<e do_case<e main<a make<a twice<a do_case<a main<f drop<f twice<f do_case<f main"]
  ["overrun","function","write","memset",1,49,48,"malloc",null,true,"e fill<e do_case<e main<a make<a fill<a do_case<a main"]
  ["overrun","release","write",null,1,null,48,"malloc","free",true,"e drop<e behind<e do_case<e main<a make<a behind<a do_case<a main"]
  ["use-after-free","access","read",null,1,4,32,"malloc",null,true,"e after<e do_case<e main<a make<a after<a do_case<a main<f drop<f after<f do_case<f main"]
$ ./cases --max-guarded=0 -- behind after twice new fill
  new 00
  done
  status 5
  ["guard","none",0,5,5,0,1]
  ["double-free","function",null,null,1,null,24,"malloc","free",false,"e drop<e twice<e do_case<e main<a make<a twice<a do_case<a main<f drop<f twice<f do_case<f main"]
  ["overrun","function","write","memset",1,49,48,"malloc",null,false,"e fill<e do_case<e main<a make<a fill<a do_case<a main"]
  ["overrun","release","write",null,1,null,48,"malloc","free",false,"e drop<e behind<e do_case<e main<a make<a behind<a do_case<a main"]
$ ./cases --max-guarded=1 -- behind after twice new fill
  new 00
  done
  status 5
  ["guard","madvise",4,1,1,0,1]
  ["double-free","function",null,null,1,null,24,"malloc","free",true,"e drop<e twice<e do_case<e main<a make<a twice<a do_case<a main<f drop<f twice<f do_case<f main"]
  ["overrun","access","write",null,1,1,48,"malloc",null,true,"e behind<e do_case<e main<a make<a behind<a do_case<a main"]
  ["overrun","function","write","memset",1,49,48,"malloc",null,false,"e fill<e do_case<e main<a make<a fill<a do_case<a main"]
  ["use-after-free","access","read",null,1,4,32,"malloc",null,true,"e after<e do_case<e main<a make<a after<a do_case<a main<f drop<f after<f do_case<f main"]
$ ./cases --no-strings -- behind after twice new fill
  new 00
  done
  status 5
  ["guard","madvise",5,0,0,0,1]
  ["double-free","function",null,null,1,null,24,"malloc","free",true,"e drop<e twice<e do_case<e main<a make<a twice<a do_case<a main<f drop<f twice<f do_case<f main"]
  ["overrun","access","write",null,1,1,48,"malloc",null,true,"e behind<e do_case<e main<a make<a behind<a do_case<a main"]
  ["overrun","access","write",null,1,32,48,"malloc",null,true,"e fill<e do_case<e main<a make<a fill<a do_case<a main"]
  ["use-after-free","access","read",null,1,4,32,"malloc",null,true,"e after<e do_case<e main<a make<a after<a do_case<a main<f drop<f after<f do_case<f main"]
$ ./cases --level=sampled --sample=1 -- behind after twice new fill
  new 00
  done
  status 5
  ["sampled","madvise",5,0,0,0,1]
  ["double-free","function",null,null,1,null,24,"malloc","free",true,"e drop<e twice<e do_case<e main<a make<a twice<a do_case<a main<f drop<f twice<f do_case<f main"]
  ["overrun","access","write",null,1,1,48,"malloc",null,true,"e behind<e do_case<e main<a make<a behind<a do_case<a main"]
  ["overrun","function","write","memset",1,49,48,"malloc",null,true,"e fill<e do_case<e main<a make<a fill<a do_case<a main"]
  ["use-after-free","access","read",null,1,4,32,"malloc",null,true,"e after<e do_case<e main<a make<a after<a do_case<a main<f drop<f after<f do_case<f main"]
$ ./cases --level=sampled --sample=1T -- behind after twice new fill
  status 134
  free(): double free detected in tcache 2
  ["sampled","madvise",0,0,0,0,1]
  ["crash","signal",null,null,1,null,null,null,null,null,"e drop<e twice<e do_case<e main"]
$ ./cases --quarantine=0 --level=light -- behind after twice new fill
  new 00
  done
  status 5
  ["light","none",0,5,0,0,1]
  ["double-free","function",null,null,1,null,24,"malloc","free",false,"e drop<e twice<e do_case<e main<a make<a twice<a do_case<a main<f drop<f twice<f do_case<f main"]
  ["overrun","function","write","memset",1,49,48,"malloc",null,false,"e fill<e do_case<e main<a make<a fill<a do_case<a main"]
  ["overrun","release","write",null,1,null,48,"malloc","free",false,"e drop<e behind<e do_case<e main<a make<a behind<a do_case<a main"]
$ ./cases --fail-after=1 -- behind after twice new fill
  status 139
  ["guard","madvise",1,0,0,1,1]
  ["crash","signal","read",null,1,4,null,null,null,null,"e after<e do_case<e main"]
  ["overrun","access","write",null,1,1,48,"malloc",null,true,"e behind<e do_case<e main<a make<a behind<a do_case<a main"]
$ ./cases --no-follow -- behind after twice new fill
  new 00
  done
  status 5
  ["guard","madvise",5,0,0,0,1]
  ["double-free","function",null,null,1,null,24,"malloc","free",true,"e drop<e twice<e do_case<e main<a make<a twice<a do_case<a main<f drop<f twice<f do_case<f main"]
  ["overrun","access","write",null,1,1,48,"malloc",null,true,"e behind<e do_case<e main<a make<a behind<a do_case<a main"]
  ["overrun","function","write","memset",1,49,48,"malloc",null,true,"e fill<e do_case<e main<a make<a fill<a do_case<a main"]
  ["use-after-free","access","read",null,1,4,32,"malloc",null,true,"e after<e do_case<e main<a make<a after<a do_case<a main<f drop<f after<f do_case<f main"]
$ ./cases --max-mappings=50000 -- behind after twice new fill
  new 00
  done
  status 5
  ["guard","madvise",5,0,0,0,1]
  ["double-free","function",null,null,1,null,24,"malloc","free",true,"e drop<e twice<e do_case<e main<a make<a twice<a do_case<a main<f drop<f twice<f do_case<f main"]
  ["overrun","access","write",null,1,1,48,"malloc",null,true,"e behind<e do_case<e main<a make<a behind<a do_case<a main"]
  ["overrun","function","write","memset",1,49,48,"malloc",null,true,"e fill<e do_case<e main<a make<a fill<a do_case<a main"]
  ["use-after-free","access","read",null,1,4,32,"malloc",null,true,"e after<e do_case<e main<a make<a after<a do_case<a main<f drop<f after<f do_case<f main"]
