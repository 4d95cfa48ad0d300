# SPDX-License-Identifier: GPL-2.0-or-later
# What is wrong with each option, in one sentence, and what to give instead. None of it needs rights.
$ pmm trace -p abc
  pmm: 'abc' is not a process number
  pmm: hint: 'pgrep -a abc' lists the processes of that name with their numbers
[2]
$ pmm trace -p -5
  pmm: '-5' is not a process number
  pmm: hint: 'ps -e' lists all processes with their numbers
[2]
$ pmm trace -p 99999999999
  pmm: '99999999999' is not a process number
  pmm: hint: 'ps -e' lists all processes with their numbers
[2]
$ pmm trace -p 4194304
  pmm: no process 4194304
  pmm: hint: 'ps -e' lists all processes with their numbers
[3]
$ pmm trace --cgroup /nope --all
  pmm: there is no control group '/nope'
  pmm: hint: give its directory, or its path below /sys/fs/cgroup/memory or /sys/fs/cgroup
[3]
$ pmm trace --cgroup '' --all
  pmm: there is no control group ''
  pmm: hint: give its directory, or its path below /sys/fs/cgroup/memory or /sys/fs/cgroup
[3]
$ pmm trace --cgroup /etc
  pmm: '/etc' is not a control group of the memory controller
  pmm: hint: give its directory, or its path below /sys/fs/cgroup/memory or /sys/fs/cgroup
[3]
$ pmm trace --user nobodyx
  pmm: there is no user 'nobodyx'
  pmm: hint: give a name that 'getent passwd' lists, or a number
[2]
$ pmm trace --user -1
  pmm: there is no user '-1'
  pmm: hint: give a name that 'getent passwd' lists, or a number
[2]
$ pmm trace --user ''
  pmm: there is no user ''
  pmm: hint: give a name that 'getent passwd' lists, or a number
[2]
$ pmm trace --command ''
  pmm: command names have 1 to 15 characters
  pmm: hint: the kernel cuts longer ones: 'ps -o comm= -p PID' shows the name
[2]
$ pmm trace --command 1234567890123456 --all
  pmm: command names have 1 to 15 characters
  pmm: hint: the kernel cuts longer ones: 'ps -o comm= -p PID' shows the name
[2]
$ pmm trace --duration 0 --all
  pmm: --duration: '0' is out of range
  pmm: hint: at least 1 ms
[2]
$ pmm trace --duration x --all
  pmm: --duration: 'x' is not a duration
  pmm: hint: a number of seconds, or with ns, us, ms, s, m, h or d: 10ms, 5s, 2m
[2]
$ pmm trace --interval 1ns --all
  pmm: --interval: '1ns' is out of range
  pmm: hint: at least 10 ms
[2]
$ pmm trace --interval 99999999999999d --all
  pmm: --interval: '99999999999999d' is too large
  pmm: hint: 'pmm trace --help' lists the options
[2]
$ pmm trace --min-latency x --all
  pmm: --min-latency: 'x' is not a duration
  pmm: hint: a number of seconds, or with ns, us, ms, s, m, h or d: 10ms, 5s, 2m
[2]
$ pmm trace --min-size -1 --all
  pmm: --min-size: '-1' is not a size
  pmm: hint: a number of bytes, or with K, M, G or T: 4096, 64K, 1.5M
[2]
$ pmm trace --stack-size 1M --all
  pmm: --stack-size: '1M' is out of range
  pmm: hint: from 0 B to 64.0 KiB
[2]
$ pmm trace --sample 0 --all
  pmm: --sample: '0' is out of range
  pmm: hint: from 1 to 4294967295
[2]
$ pmm trace --sample 99999999999 --all
  pmm: --sample: '99999999999' is out of range
  pmm: hint: from 1 to 4294967295
[2]
$ pmm trace --objects 0 --all
  pmm: --objects: '0' is out of range
  pmm: hint: from 1 to 67108864
[2]
$ pmm trace --older x --all
  pmm: --older: 'x' is not a duration
  pmm: hint: a number of seconds, or with ns, us, ms, s, m, h or d: 10ms, 5s, 2m
[2]
$ pmm trace --counters x --all
  pmm: there is no counter 'x'
  pmm: hint: 'pmm trace --help' names them
[2]
$ pmm trace --counters '' --all
  pmm: no counter is named
  pmm: hint: 'pmm trace --help' names them
[2]
$ pmm trace --buffer 3M --all
  pmm: the size of '--buffer' must be a power of two
  pmm: hint: such as 4M, 64M or 256M
[2]
$ pmm trace --buffer 1 --all
  pmm: --buffer: '1' is out of range
  pmm: hint: from 64.0 KiB to 1.00 GiB
[2]
$ pmm trace --buffer 8G --all
  pmm: --buffer: '8G' is out of range
  pmm: hint: from 64.0 KiB to 1.00 GiB
[2]
$ pmm trace --top x --all
  pmm: --top: 'x' is not a number
  pmm: hint: decimal digits only
[2]
$ pmm trace --frames x --all
  pmm: --frames: 'x' is not a number
  pmm: hint: decimal digits only
[2]
$ pmm trace --sort x --all
  pmm: 'x' is not a choice of --sort
  pmm: hint: one of: count, bytes, time
[2]
$ pmm trace --width 0 --all
  pmm: --width: '0' is out of range
  pmm: hint: from 40 to 100000
[2]
$ pmm trace --format xml --all
  pmm: 'xml' is not a choice of --format
  pmm: hint: one of: text, json, folded
[2]
$ pmm trace --json --folded --all
  pmm: two forms of output are given
  pmm: hint: leave out '--json', '--folded' or '--format'
[2]
$ pmm trace --format folded --json --all
  pmm: two forms of output are given
  pmm: hint: leave out '--json', '--folded' or '--format'
[2]
$ pmm trace --folded --stack-size 0 --all
  pmm: '--folded' is a form of stacks, and there are none
  pmm: hint: leave out '--stack-size 0'
[2]
$ pmm trace --folded --list
  pmm: '--folded' is a form of stacks, and there are none
  pmm: hint: leave it out
[2]
$ pmm trace -o none/file --list
  pmm: cannot write to 'none/file': No such file or directory
  pmm: hint: name a file in a directory that you may write to
[3]
$ pmm trace --tree --all
  pmm: '--tree' is about the children of '--pid PID'
  pmm: hint: the children of a command are traced without it
[2]
$ pmm trace --no-follow --all
  pmm: '--no-follow' is about the children of a process or command
  pmm: hint: give '--pid PID' or '-- COMMAND'
[2]
$ pmm trace --all -p 1
  pmm: a command, '--pid' and '--all' exclude each other
  pmm: hint: '--command', '--cgroup' and '--user' go with each of them
[2]
$ pmm trace --all -- true
  pmm: a command, '--pid' and '--all' exclude each other
  pmm: hint: '--command', '--cgroup' and '--user' go with each of them
[2]
$ pmm trace -p 1 -- true
  pmm: a command, '--pid' and '--all' exclude each other
  pmm: hint: '--command', '--cgroup' and '--user' go with each of them
[2]
$ pmm trace mmap
  pmm: nothing to trace
  pmm: hint: give '--pid PID', '-- COMMAND', or '--all' for all processes
[2]
$ pmm trace mmapp --all
  pmm: there is no event 'mmapp'
  pmm: hint: did you mean 'mmap'? 'pmm trace --list' has all names
[2]
$ pmm trace mmap,,brk --all
  pmm: there is no event ''
  pmm: hint: 'pmm trace --list' names them
[2]
$ pmm trace '' --all
  pmm: no event is named
  pmm: hint: 'pmm trace --list' names them
[2]
$ pmm trace mmap brk --all
  pmm: unexpected argument 'brk'
  pmm: hint: several events are a list with commas: mmap,brk
[2]
$ pmm trace mmap brk -- true
  pmm: unexpected argument 'brk'
  pmm: hint: several events are a list with commas: mmap,brk
[2]
$ pmm trace --json=1 --all
  pmm: option '--json' takes no argument
  pmm: hint: 'pmm trace --help' lists the options
[2]
$ pmm trace --bogus --all
  pmm: unknown option '--bogus'
  pmm: hint: 'pmm trace --help' lists the options
[2]
