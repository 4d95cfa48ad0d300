# SPDX-License-Identifier: GPL-2.0-or-later
$ pmm doctor --json | jq -c '.schema, .verdict.run_works, (.checks[] | [.check, (.state // "")] | select(.[0] == "trial" or .[0] == "attach" or .[0] == "agent"))'
  "pmm-doctor/1.0"
  true
  ["agent","ok"]
  ["trial","ok"]
  ["attach","ok"]
$ pmm doctor >all; echo $?; cut -c1-20 all | grep -ioE 'trial|agent|attach' | sort -u
  0
  agent
  attach
  trial
$ PMM_AGENT=/nonexistent pmm doctor | grep -A1 /nonexistent
    no     agent       cannot find the agent '/nonexistent': No such file or directory
                         put libpmm.so beside pmm, or name it in PMM_AGENT
$ PMM_AGENT=/nonexistent pmm doctor --json | jq -c '.verdict'
  {"run_works":false,"version":"0.1.0"}
$ PMM_INJECT=/nonexistent pmm doctor | grep -A1 /nonexistent
    no     attach      cannot find the agent '/nonexistent': No such file or directory
                         put libpmm_inject.so beside pmm, or name it in PMM_INJECT
$ PMM_INJECT=/nonexistent pmm doctor --json | jq -c '[.verdict], (.checks[] | select(.state != "ok") | [.check, .state])' | head -5
  [{"run_works":true,"version":"0.1.0"}]
  ["debuginfod","note"]
  ["attach","no"]
  ["kmod","note"]
  ["core","note"]
$ pmm doctor x
  pmm: unexpected argument 'x'
  pmm: hint: usage: pmm doctor [options]
[2]
$ pmm doctor | sed -E '/^Events of/,$d; s/^  (..).  ( *)([a-z-]+) .*/\1 \3/' | sort | head -40
  
  
                         'pmm kmod load' loads it; only programs that log to it need it (PMM_KMOD, doc/kmod.md)
     export
     ulimit
    'pmm run' works here
    note   core        crashes leave no core file
    note   debuginfod  no server for missing debug information is set
    note   kmod        the kernel module is not loaded
    ok     map_files   files that were replaced or deleted can be read through their mappings
    state  check       found
  ok agent
  ok attach
  ok container
  ok debuginfo
  ok ebpf
  ok kernel
  ok ledger
  ok memfd
  ok memory
  ok pidfd
  ok populate
  ok privileges
  ok ptrace
  ok trial
  ok wipeonfork
# a file size limit is found out and told, and is not what doctor dies of
$ (ulimit -f 100; pmm doctor; echo "status $?") | sed -nE 's/^  (no) +([a-z]+) .*/\1 \2/p; /^status/p'
  no trial
  no attach
  no memfd
  no ledger
  status 1
