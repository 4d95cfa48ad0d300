# SPDX-License-Identifier: GPL-2.0-or-later
# drive VICTIM-ARGS -- DRIVER-ARGS: a victim that checks itself and ends with 7; PID and FIRST, its first line, are put into the driver's arguments.
$ cat >drive <<'END'
> #!/bin/bash
> victim=()
> while [ "$1" != -- ]; do victim+=("$1"); shift; done
> shift
> rm -f in; mkfifo in; : >out
> "$PROG/${victim[0]}" "${victim[@]:1}" <in >out 2>&1 &
> pid=$!
> exec 9>in
> for ((i = 0; i < 500; i++)); do [ -s out ] && break; sleep 0.02; done
> first=$(head -1 out)
> args=("${@/PID/$pid}"); args=("${args[@]/FIRST/$first}")
> "$PROG/${args[0]}" "${args[@]:1}" 9>&- | sed -E 's/(_us|_ns)=[0-9]+/\1=N/g'
> status=${PIPESTATUS[0]}
> [ "$status" = 0 ] || echo "driver: status $status"
> exec 9>&-
> status=0; wait $pid || status=$?
> [ $status = 7 ] || { echo "victim: status $status"; cat out; }
> END
> chmod +x drive
$ ./drive stop_victim -- stop_driver all PID 30
  threads=11 median_us=N max_us=N
$ ./drive stop_victim -- stop_driver one PID 20
$ ./drive stop_victim -- stop_driver one PID 20 FIRST
$ ./drive stop_victim -- stop_driver each PID 6 FIRST
$ ./drive stop_faults -- stop_driver all PID 10
  threads=6 median_us=N max_us=N
$ ./drive stop_faults -- stop_driver each PID 10 FIRST
$ ./drive stop_victim killed -- stop_driver die PID 12 FIRST
$ ./drive stop_victim -- stop_driver allowed PID
$ $PROG/stop_driver allowed 999999999
  ESRCH: no process 999999999
  hint: 'ps -e' lists all processes with their numbers
[3]
$ $PROG/stop_driver allowed $$
$ $PROG/stop_driver all 999999999
  ESRCH: process 999999999 has ended
[3]
$ sleep 30 & sleep 0.2; $PROG/stop_driver one $! 3; echo $?; kill $!
  0
