# SPDX-License-Identifier: GPL-2.0-or-later
# Numbers that differ each time, as words.
$ cat >words <<'END'
> sed -E -e 's/\b([Pp]rocess|pid|attach|report|snapshot|--check|detach) [0-9]+/\1 N/g' -e 's/\(([0-9]+)\)/(N)/g' -e 's/\.[0-9]+\.pmm/.N.pmm/g' \
> -e 's/(less than |under )?[0-9.]+ (ms|us|s)\b/TIME/g' -e 's/in the first TIME/after TIME/' -e 's/^ *TIME  /TIME  /' -e 's/0x[0-9a-f]{6,}/ADDRESS/g' -e 's/[0-9.]+ [KM]iB in TIME/SIZE in TIME/' \
> -e "s#$BUILD#BUILD#g" -e "s#$PWD#HERE#g" -e "s#$SOURCE#SOURCE#g"
> END
# found NAME WAYS [OPTION...]: what victim leak_NAME has lost, at its end; nothing is said where it is what its comment says.
$ cat >found <<'END'
> #!/bin/bash
> name=$1 ways=$2; shift 2
> all=(--json --top 0 --depth 0 --show all --no-default-suppressions --fail-on none)
> source=$(ls $SOURCE/tests/prog/leak_$name.c*)
> echo g | pmm run -q --leaks -o e.pmm -- $PROG/leak_$name >out 2>err; echo "status $?"
> pmm leaks "${all[@]}" "$@" e.pmm >found.json
> python3 $SOURCE/tests/cli/leak_sums.py $source $ways found.json
> END
> chmod +x found
$ ./found data exit
  status 0
$ ./found threads exit
  status 0
$ ./found tls exit
  status 0
$ ./found maps exit
  status 0
$ ./found coro exit
  status 0
$ ./found freed exit
  status 0
$ ./found kernel exit
  status 0
$ ./found libc exit
  status 0
$ ./found shapes exit
  status 0
$ ./found inside exit
  status 0
