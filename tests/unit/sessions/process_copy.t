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
$ ./drive copy_victim -- copy_driver take PID 10 FIRST
  copies=10 threads=6 median_us=N max_us=N
$ ./drive copy_victim shared -- copy_driver take PID 5 FIRST
  copies=5 threads=6 median_us=N max_us=N
$ ./drive copy_victim kept -- copy_driver take PID 5 FIRST
  copies=5 threads=6 median_us=N max_us=N
$ ./drive copy_victim wiped -- copy_driver take PID 5 FIRST
  copies=5 threads=6 median_us=N max_us=N
$ ./drive copy_victim signalfd -- copy_driver take PID 5 FIRST
  copies=5 threads=6 median_us=N max_us=N
$ ./drive copy_victim child -- copy_driver take PID 5 FIRST
  copies=5 threads=6 median_us=N max_us=N
$ ./drive copy_victim -- copy_driver stopped PID 3 FIRST
  copies=0 threads=6 median_us=N max_us=N
$ ./drive stop_victim -- copy_driver take PID 10
  copies=10 threads=11 median_us=N max_us=N
$ ./drive copy_victim -- copy_driver ask PID 5 FIRST
  copies=5 threads=6 median_us=N max_us=N
$ ./drive copy_victim -- copy_driver left PID
  0
$ ./drive stop_victim killed -- copy_driver die PID 8
