# SPDX-License-Identifier: GPL-2.0-or-later
# where the device is, these are for tests/guest
$ [ ! -e /dev/pmm ] && pmm kmod status
  pmm: the kernel module pmm is not loaded: there is no '/dev/pmm'
  pmm: hint: 'pmm kmod load' loads it, as root; 'make -C kmod' builds it
[3]
$ pmm kmod status --json
  pmm: the kernel module pmm is not loaded: there is no '/dev/pmm'
  pmm: hint: 'pmm kmod load' loads it, as root; 'make -C kmod' builds it
[3]
$ pmm kmod watch -d 1
  pmm: the kernel module pmm is not loaded: there is no '/dev/pmm'
  pmm: hint: 'pmm kmod load' loads it, as root; 'make -C kmod' builds it
[3]
$ pmm kmod report 1
  pmm: the kernel module pmm is not loaded: there is no '/dev/pmm'
  pmm: hint: 'pmm kmod load' loads it, as root; 'make -C kmod' builds it
[3]
$ pmm kmod start 1
  pmm: the kernel module pmm is not loaded: there is no '/dev/pmm'
  pmm: hint: 'pmm kmod load' loads it, as root; 'make -C kmod' builds it
[3]
$ pmm kmod stop 1
  pmm: the kernel module pmm is not loaded: there is no '/dev/pmm'
  pmm: hint: 'pmm kmod load' loads it, as root; 'make -C kmod' builds it
[3]
$ pmm kmod
  pmm: 'pmm kmod' needs an argument
  pmm: hint: usage: pmm kmod [options] status|load [NAME=VALUE...]|unload|start PID...|stop PID...|watch [PID...]|report PID
[2]
$ pmm kmod stats
  pmm: 'pmm kmod' has no 'stats'
  pmm: hint: did you mean 'status'?
[2]
$ pmm kmod frobnicate
  pmm: 'pmm kmod' has no 'frobnicate'
  pmm: hint: it has status, load, unload, start, stop, watch and report
[2]
$ pmm kmod start
  pmm: 'pmm kmod start' needs a PID
  pmm: hint: usage: pmm kmod start PID...
[2]
$ pmm kmod status 1
  pmm: 'pmm kmod status' has too many arguments
  pmm: hint: usage: pmm kmod status
[2]
$ pmm kmod report 1 2
  pmm: 'pmm kmod report' has too many arguments
  pmm: hint: usage: pmm kmod report PID
[2]
$ pmm kmod start --json 1
  pmm: '--json' is not for 'pmm kmod start'
  pmm: hint: leave it out; 'pmm kmod --help' says what it is for
[2]
$ pmm kmod watch --top 3
  pmm: '--top' is not for 'pmm kmod watch'
  pmm: hint: leave it out; 'pmm kmod --help' says what it is for
[2]
$ pmm kmod status -d 1
  pmm: '--duration' is not for 'pmm kmod status'
  pmm: hint: leave it out; 'pmm kmod --help' says what it is for
[2]
$ pmm kmod report --top-down --bottom-up 1
  pmm: '--top-down' and '--bottom-up' cannot be used together
  pmm: hint: ask for one after the other
[2]
$ pmm kmod report --no-symbols --file x 1
  pmm: '--file' needs symbols
  pmm: hint: leave out --no-symbols
[2]
$ pmm kmod load interval_ms
  pmm: 'interval_ms' is no parameter of the kernel module
  pmm: hint: NAME=VALUE; 'modinfo pmm' lists the names
[2]
$ pmm kmod load 'a=b c=d'
  pmm: 'a=b c=d' is no parameter of the kernel module
  pmm: hint: NAME=VALUE; 'modinfo pmm' lists the names
[2]
$ pmm doctor | grep kmod
    note   kmod        the kernel module is not loaded
                         'pmm kmod load' loads it; only programs that log to it need it (PMM_KMOD, doc/kmod.md)
