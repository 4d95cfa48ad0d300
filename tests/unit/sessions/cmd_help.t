# SPDX-License-Identifier: GPL-2.0-or-later
$ pmm
  usage: pmm COMMAND [options] ...
  
  shows what a program does with its memory, without rebuilding it
  
  commands:
    run        launch a program and track its memory
    attach     watch a process that is already running, then leave it as it was
    detach     take pmm out of a process that was left attached
    report     show what a capture or a running process holds and who holds it
    diff       show what grew, shrank, appeared and vanished between two captures
    budget     see whether captures are within the budgets that a project keeps in a file
    leaks      find blocks that nothing points to any more, and call sites that grow
    check      find heap errors: overruns, uses after free, double and bad frees
    snapshot   write the capture of a running, tracked process
    trace      show what the kernel does about memory, and to whom
    kmod       load the kernel module, show what it monitors and the logs that it keeps
    doctor     say what works on this machine, and why not
    help       explain pmm or one of its commands
  
  'pmm COMMAND --help' lists the options of a command; 'pmm --version' the version
  to build the monitor into a program, compile it with pmm.h: 'pmm help --man | man -l -'
[2]
$ pmm help
  usage: pmm COMMAND [options] ...
  
  shows what a program does with its memory, without rebuilding it
  
  commands:
    run        launch a program and track its memory
    attach     watch a process that is already running, then leave it as it was
    detach     take pmm out of a process that was left attached
    report     show what a capture or a running process holds and who holds it
    diff       show what grew, shrank, appeared and vanished between two captures
    budget     see whether captures are within the budgets that a project keeps in a file
    leaks      find blocks that nothing points to any more, and call sites that grow
    check      find heap errors: overruns, uses after free, double and bad frees
    snapshot   write the capture of a running, tracked process
    trace      show what the kernel does about memory, and to whom
    kmod       load the kernel module, show what it monitors and the logs that it keeps
    doctor     say what works on this machine, and why not
    help       explain pmm or one of its commands
  
  'pmm COMMAND --help' lists the options of a command; 'pmm --version' the version
  to build the monitor into a program, compile it with pmm.h: 'pmm help --man | man -l -'
$ pmm --help >a; pmm -h >b; pmm help | cmp a - && cmp a b
$ pmm help --list
  run
  attach
  detach
  report
  diff
  budget
  leaks
  check
  snapshot
  trace
  kmod
  doctor
  help
$ pmm -V
  pmm 0.1.0
$ pmm --version
  pmm 0.1.0
$ pmm help detach
  usage: pmm detach [options] PID
  
  take pmm out of a process that was left attached
  
  options:
    -q, --quiet              no messages but errors
    -h, --help               show this
  
  examples:
    pmm detach 4711
        restore the code of process 4711
  
  'pmm help --man detach | man -l -' shows the whole manual
$ pmm help detach >b; pmm detach -h | cmp b -
$ pmm help snapshot
  usage: pmm snapshot [options] PID
  
  write the capture of a running, tracked process
  
  options:
    -o, --output FILE        write there (%p: pid, %c: command); default pmm.%c.%p.pmm
    -q, --quiet              no messages but errors
        --memory-limit SIZE  memory that reading the ledger may take (default a quarter of RAM, or
                             of the control group's)
    -h, --help               show this
  
  examples:
    pmm snapshot 4711
        write pmm.COMM.4711.pmm in the current directory
    pmm snapshot -o before.pmm 4711
        choose the name
  
  'pmm help --man snapshot | man -l -' shows the whole manual
$ pmm help --man detach
  .TH PMM-DETACH 1 "" "pmm 0.1.0" "User Commands"
  .SH NAME
  pmm\-detach \- take pmm out of a process that was left attached
  .SH SYNOPSIS
  .B pmm detach
  [options] PID
  .SH DESCRIPTION
  \&'pmm attach' takes itself out of the process when it ends. When it is killed, its watchdog does so within some seconds. Where the watchdog was killed as well, or when a thread was still inside the agent, this command restores the program's code and unmaps what pmm has mapped. The next 'pmm attach' does the same first.
  .PP
  Until then the program keeps running: the agent notices within some seconds that there is no monitor, and stops recording.
  .SH OPTIONS
  .TP
  .B \-q, \-\-quiet
  no messages but errors
  .TP
  .B \-h, \-\-help
  show the options and exit
  .SH EXAMPLES
  .TP
  .B pmm detach 4711
  restore the code of process 4711
  .SH EXIT STATUS
  .TP
  .B 0
  nothing of 'pmm attach' is in the process any more, or nothing was
  .TP
  .B 2
  wrong usage
  .TP
  .B 3
  it is still there: a thread is inside the agent, guarded blocks are in use, or it could not be taken out
  .SH SEE ALSO
  .BR pmm (1),
  .BR pmm\-run (1),
  .BR pmm\-attach (1),
  .BR pmm\-report (1),
  .BR pmm\-diff (1),
  .BR pmm\-budget (1),
  .BR pmm\-leaks (1),
  .BR pmm\-check (1),
  .BR pmm\-snapshot (1),
  .BR pmm\-trace (1),
  .BR pmm\-kmod (1),
  .BR pmm\-doctor (1),
  .BR pmm\-help (1)
$ pmm help --man | head -60
  .TH PMM 1 "" "pmm 0.1.0" "User Commands"
  .SH NAME
  pmm \- shows what a program does with its memory, without rebuilding it
  .SH SYNOPSIS
  .B pmm
  .I COMMAND
  [options] ...
  .SH DESCRIPTION
  pmm keeps a ledger of the live heap of a running program: every block, its size, its age and the call stack that allocated it. The ledger is in memory that pmm shares with the program. It can be read at any moment and survives any end of the program. A capture (.pmm file) is a heap of one moment, compressed.
  .PP
  Results go to standard output, messages to standard error.
  .SH COMPILED IN
  A program can contain the monitor, with #include <pmm.h> and \-DPMM. It then reports by file and line what it allocates, loses and damages: on its own, at exit, by signal or by function. Linked with 'pkg\-config \-\-cflags \-\-libs pmm', it can be read by 'pmm report', 'pmm leaks' and 'pmm snapshot' at any time. With pmm_static.c, which includes the files beside it, it runs on anything that has a C compiler. <pmm.h> says what each function does; doc/shim.md has the rest.
  .PP
  doc/ and examples/ are in share/doc/pmm where pmm is installed.
  .SH COMMANDS
  .TP
  .BR pmm\-run (1)
  launch a program and track its memory
  .TP
  .BR pmm\-attach (1)
  watch a process that is already running, then leave it as it was
  .TP
  .BR pmm\-detach (1)
  take pmm out of a process that was left attached
  .TP
  .BR pmm\-report (1)
  show what a capture or a running process holds and who holds it
  .TP
  .BR pmm\-diff (1)
  show what grew, shrank, appeared and vanished between two captures
  .TP
  .BR pmm\-budget (1)
  see whether captures are within the budgets that a project keeps in a file
  .TP
  .BR pmm\-leaks (1)
  find blocks that nothing points to any more, and call sites that grow
  .TP
  .BR pmm\-check (1)
  find heap errors: overruns, uses after free, double and bad frees
  .TP
  .BR pmm\-snapshot (1)
  write the capture of a running, tracked process
  .TP
  .BR pmm\-trace (1)
  show what the kernel does about memory, and to whom
  .TP
  .BR pmm\-kmod (1)
  load the kernel module, show what it monitors and the logs that it keeps
  .TP
  .BR pmm\-doctor (1)
  say what works on this machine, and why not
  .TP
  .BR pmm\-help (1)
  explain pmm or one of its commands
  .SH SIZES AND TIMES
  Sizes are bytes, or take K, M, G or T (powers of 1024): 4096, 64K, 1.5M. Times are seconds, or take ns, us, ms, s, m, h or d: 10ms, 5s, 2m.
  .SH EXIT STATUS
  .TP
  .B 0
$ pmm help --completion bash
  # bash completion for pmm, made by 'pmm help --completion bash'
  
  # Past the options: complete as the program itself would be.
  _pmm_program() {
  	local i
  	for ((i = 2; i < COMP_CWORD; i++)); do
  		case ${COMP_WORDS[i]} in
  		--) ((i++)); break ;;
  		--*=*) ;;
  		--output|-o) ((i++)) ;;
  		--min-size) ((i++)) ;;
  		--ledger-limit) ((i++)) ;;
  		--interval) ((i++)) ;;
  		--frames) ((i++)) ;;
  		--warn-size) ((i++)) ;;
  		--error-exitcode) ((i++)) ;;
  		--suppressions) ((i++)) ;;
  		-*) ;;
  		*) break ;;
  		esac
  	done
  	((i < COMP_CWORD)) || [[ ${COMP_WORDS[i-1]} == -- ]] || return 1
  	if declare -F _command_offset >/dev/null; then
  		_command_offset "$i"
  	else
  		compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur"))
  	fi
  }
  
  _pmm_pids() {
  	local dir
  	for dir in /proc/[0-9]*; do
  		[[ ${dir#/proc/} == "$cur"* ]] && COMPREPLY+=("${dir#/proc/}")
  	done
  }
  
  _pmm_run() {
  	_pmm_program && return
  	case $prev in
  	--output=|--output|-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
  	--sample=) return ;;
  	--min-size=|--min-size) return ;;
  	--ledger-limit=|--ledger-limit) return ;;
  	--interval=|--interval) return ;;
  	--frames=|--frames) return ;;
  	--warn-size=|--warn-size) return ;;
  	--trace=) return ;;
  	--error-exitcode=|--error-exitcode) return ;;
  	--suppressions=|--suppressions) return ;;
  	esac
  	if [[ $cur == -* ]]; then
  		COMPREPLY=($(compgen -W '--help --output --sample --min-size --no-follow --wait --ledger-limit --interval --frames --warn-size --trace --leaks --error-exitcode --suppressions --no-default-suppressions --quiet' -- "$cur"))
  	else
  		COMPREPLY=($(compgen -c -- "$cur"))
  	fi
  }
  
  _pmm_attach() {
  	case $prev in
  	--duration=|--duration|-d) return ;;
  	--expire=|--expire) return ;;
  	--interval=|--interval) return ;;
  	--sample=) return ;;
  	--budget=|--budget) return ;;
  	--min-size=|--min-size) return ;;
  	--warn-size=|--warn-size) return ;;
  	--frames=|--frames) return ;;
  	--ledger-limit=|--ledger-limit) return ;;
  	--alloc=|--alloc) return ;;
  	--trace=) return ;;
  	--output=|--output|-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
  	--top=|--top) return ;;
  	--width=|--width) return ;;
  	esac
  	if [[ $cur == -* ]]; then
  		COMPREPLY=($(compgen -W '--help --duration --expire --interval --sample --check --budget --exact --min-size --warn-size --frames --ledger-limit --alloc --trace --output --json --top --quiet --width' -- "$cur"))
  	else
  		_pmm_pids
  	fi
  }
  
  _pmm_detach() {
  	case $prev in
  	esac
  	if [[ $cur == -* ]]; then
  		COMPREPLY=($(compgen -W '--help --quiet' -- "$cur"))
  	else
  		_pmm_pids
  	fi
  }
  
  _pmm_report() {
  	case $prev in
  	--format=|--format) COMPREPLY=($(compgen -W 'text json html csv svg collapsed speedscope pprof massif dhat heaptrack chrome-trace openmetrics valgrind-xml sarif junit' -- "$cur")); return ;;
  	--output=|--output|-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
  	--sort=|--sort) COMPREPLY=($(compgen -W 'live peak allocated calls temporary' -- "$cur")); return ;;
  	--table=|--table) return ;;
  	--top=|--top) return ;;
  	--depth=|--depth) return ;;
  	--function=|--function) return ;;
  	--file=|--file) return ;;
  	--module=|--module) return ;;
  	--thread=|--thread) return ;;
  	--size=|--size) return ;;
  	--age=|--age) return ;;
  	--skip-fn=|--skip-fn) return ;;
  	--memory-limit=|--memory-limit) return ;;
  	--width=|--width) return ;;
  	esac
  	if [[ $cur == -* ]]; then
  		COMPREPLY=($(compgen -W '--help --format --output --json --source --sort --table --top --top-down --bottom-up --depth --function --file --module --thread --size --age --blocks --functions --skip-fn --debuginfod --no-symbols --memory-limit --width' -- "$cur"))
  	else
  		compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur"))
  		_pmm_pids
  	fi
  }
  
  _pmm_diff() {
  	case $prev in
  	--format=|--format) COMPREPLY=($(compgen -W 'text json html csv svg collapsed speedscope pprof massif dhat heaptrack chrome-trace openmetrics valgrind-xml sarif junit' -- "$cur")); return ;;
  	--output=|--output|-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
  	--fail-on=|--fail-on) return ;;
  	--sort=|--sort) COMPREPLY=($(compgen -W 'live peak allocated calls temporary leaked' -- "$cur")); return ;;
  	--top=|--top) return ;;
  	--depth=|--depth) return ;;
  	--function=|--function) return ;;
  	--file=|--file) return ;;
  	--module=|--module) return ;;
  	--thread=|--thread) return ;;
  	--size=|--size) return ;;
  	--age=|--age) return ;;
  	--skip-fn=|--skip-fn) return ;;
  	--suppressions=|--suppressions) return ;;
  	--memory-limit=|--memory-limit) return ;;
  	--width=|--width) return ;;
  	esac
  	if [[ $cur == -* ]]; then
  		COMPREPLY=($(compgen -W '--help --format --output --json --fail-on --trend --sort --top --depth --function --file --module --thread --size --age --skip-fn --suppressions --no-default-suppressions --debuginfod --no-symbols --memory-limit --width' -- "$cur"))
  	else
  		compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur"))
  	fi
  }
  
  _pmm_budget() {
  	case $prev in
  	--file=|--file|-f) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
  	--format=|--format) COMPREPLY=($(compgen -W 'text json html csv svg collapsed speedscope pprof massif dhat heaptrack chrome-trace openmetrics valgrind-xml sarif junit' -- "$cur")); return ;;
  	--suppressions=|--suppressions) return ;;
  	--memory-limit=|--memory-limit) return ;;
  	--width=|--width) return ;;
  	esac
  	if [[ $cur == -* ]]; then
  		COMPREPLY=($(compgen -W '--help --file --format --json --suppressions --no-default-suppressions --debuginfod --memory-limit --width' -- "$cur"))
  	else
  		compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur"))
  		_pmm_pids
  	fi
  }
  
  _pmm_leaks() {
  	case $prev in
  	--every=|--every) return ;;
  	--count=|--count) return ;;
  	--holds=|--holds) return ;;
  	--show=|--show) return ;;
  	--top=|--top) return ;;
  	--depth=|--depth) return ;;
  	--old=|--old) return ;;
  	--format=|--format) COMPREPLY=($(compgen -W 'text json html csv svg collapsed speedscope pprof massif dhat heaptrack chrome-trace openmetrics valgrind-xml sarif junit' -- "$cur")); return ;;
  	--fail-on=|--fail-on) return ;;
  	--max-leaked=|--max-leaked) return ;;
  	--error-exitcode=|--error-exitcode) return ;;
  	--report=|--report) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
  	--output=|--output|-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
  	--suppressions=|--suppressions) return ;;
  	--gen-suppressions=) COMPREPLY=($(compgen -W 'valgrind lsan' -- "$cur")); return ;;
  	--heuristics=|--heuristics) return ;;
  	--tag-bits=|--tag-bits) return ;;
  	--threads=|--threads) return ;;
  	--core=|--core) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
  	--skip-fn=|--skip-fn) return ;;
  	--memory-limit=|--memory-limit) return ;;
  	--width=|--width) return ;;
  	esac
  	if [[ $cur == -* ]]; then
  		COMPREPLY=($(compgen -W '--help --every --count --holds --show --top --depth --old --format --json --fail-on --max-leaked --error-exitcode --report --output --wait --suppressions --no-default-suppressions --gen-suppressions --show-bytes --heuristics --tag-bits --stop --threads --core --skip-fn --debuginfod --no-symbols --memory-limit --width' -- "$cur"))
  	else
  		compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur"))
  		_pmm_pids
  	fi
  }
  
  _pmm_check() {
  	case $prev in
  	--level=|--level) COMPREPLY=($(compgen -W 'light guard sampled' -- "$cur")); return ;;
  	--on-error=|--on-error) COMPREPLY=($(compgen -W 'continue abort core' -- "$cur")); return ;;
  	--max-guarded=|--max-guarded) return ;;
  	--budget=|--budget) return ;;
  	--quarantine=|--quarantine) return ;;
  	--sample=|--sample) return ;;
  	--garbage=) return ;;
  	--fail-after=|--fail-after) return ;;
  	--fail-rate=|--fail-rate) return ;;
  	--limit=|--limit) return ;;
  	--sweep=) return ;;
  	--count=|--count) return ;;
  	--output=|--output|-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
  	--report=|--report) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
  	--format=|--format) COMPREPLY=($(compgen -W 'text json html csv svg collapsed speedscope pprof massif dhat heaptrack chrome-trace openmetrics valgrind-xml sarif junit' -- "$cur")); return ;;
  	--top=|--top) return ;;
  	--depth=|--depth) return ;;
  	--error-exitcode=|--error-exitcode) return ;;
  	--fail-on=|--fail-on) return ;;
  	--ledger-limit=|--ledger-limit) return ;;
  	--max-mappings=|--max-mappings) return ;;
  	--skip-fn=|--skip-fn) return ;;
  	--memory-limit=|--memory-limit) return ;;
  	--width=|--width) return ;;
  	esac
  	if [[ $cur == -* ]]; then
  		COMPREPLY=($(compgen -W '--help --level --uninit --on-error --right --left --exhaustive --max-guarded --budget --quarantine --sample --no-strings --zero-size --garbage --fail-after --fail-rate --limit --sweep --count --no-follow --wait --output --report --format --json --top --depth --show-bytes --error-exitcode --fail-on --ledger-limit --no-madvise-guard --max-mappings --skip-fn --debuginfod --no-symbols --memory-limit --width' -- "$cur"))
  	else
  		compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur"))
  		_pmm_pids
  	fi
  }
  
  _pmm_snapshot() {
  	case $prev in
  	--output=|--output|-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
  	--memory-limit=|--memory-limit) return ;;
  	esac
  	if [[ $cur == -* ]]; then
  		COMPREPLY=($(compgen -W '--help --output --quiet --memory-limit' -- "$cur"))
  	else
  		_pmm_pids
  	fi
  }
  
  _pmm_trace() {
  	case $prev in
  	--pid=|--pid|-p) return ;;
  	--command=|--command) return ;;
  	--cgroup=|--cgroup) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
  	--user=|--user|-u) return ;;
  	--duration=|--duration|-d) return ;;
  	--interval=|--interval|-i) return ;;
  	--min-latency=|--min-latency) return ;;
  	--min-size=|--min-size) return ;;
  	--stack-size=|--stack-size) return ;;
  	--sample=|--sample) return ;;
  	--objects=|--objects) return ;;
  	--older=|--older) return ;;
  	--counters=|--counters) return ;;
  	--buffer=|--buffer) return ;;
  	--top=|--top) return ;;
  	--frames=|--frames) return ;;
  	--sort=|--sort) COMPREPLY=($(compgen -W 'count bytes time' -- "$cur")); return ;;
  	--format=|--format) COMPREPLY=($(compgen -W 'text json folded' -- "$cur")); return ;;
  	--output=|--output|-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
  	--width=|--width) return ;;
  	esac
  	if [[ $cur == -* ]]; then
  		COMPREPLY=($(compgen -W '--help --pid --tree --no-follow --all --command --cgroup --user --duration --interval --summary --clock --min-latency --min-size --stack-size --sample --objects --older --counters --buffer --top --frames --sort --format --folded --list --json --output --quiet --width' -- "$cur"))
  	else
  		_pmm_pids
  	fi
  }
  
  _pmm_kmod() {
  	case $prev in
  	--duration=|--duration|-d) return ;;
  	--format=|--format) COMPREPLY=($(compgen -W 'text json html csv svg collapsed speedscope pprof massif dhat heaptrack chrome-trace openmetrics valgrind-xml sarif junit' -- "$cur")); return ;;
  	--output=|--output|-o) compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur")); return ;;
  	--sort=|--sort) COMPREPLY=($(compgen -W 'live peak allocated calls temporary' -- "$cur")); return ;;
  	--table=|--table) return ;;
  	--top=|--top) return ;;
  	--depth=|--depth) return ;;
  	--function=|--function) return ;;
  	--file=|--file) return ;;
  	--module=|--module) return ;;
  	--thread=|--thread) return ;;
  	--size=|--size) return ;;
  	--age=|--age) return ;;
  	--skip-fn=|--skip-fn) return ;;
  	--memory-limit=|--memory-limit) return ;;
  	--width=|--width) return ;;
  	esac
  	if [[ $cur == -* ]]; then
  		COMPREPLY=($(compgen -W '--help --json --duration --format --output --sort --table --top --top-down --bottom-up --depth --function --file --module --thread --size --age --blocks --functions --skip-fn --debuginfod --no-symbols --memory-limit --width' -- "$cur"))
  	else
  		_pmm_pids
  	fi
  }
  
  _pmm_doctor() {
  	case $prev in
  	esac
  	if [[ $cur == -* ]]; then
  		COMPREPLY=($(compgen -W '--help --json' -- "$cur"))
  	fi
  }
  
  _pmm_help() {
  	case $prev in
  	--completion=|--completion) COMPREPLY=($(compgen -W 'bash zsh' -- "$cur")); return ;;
  	esac
  	if [[ $cur == -* ]]; then
  		COMPREPLY=($(compgen -W '--help --man --list --completion' -- "$cur"))
  	else
  		COMPREPLY=($(compgen -W "$commands" -- "$cur"))
  	fi
  }
  
  _pmm() {
  	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} commands='run attach detach report diff budget leaks check snapshot trace kmod doctor help'
  	COMPREPLY=()
  	if [[ $cur == = ]]; then
  		cur='' prev+='='
  	elif [[ $prev == = ]]; then
  		prev=${COMP_WORDS[COMP_CWORD-2]}=
  	fi
  	if ((COMP_CWORD == 1)); then
  		COMPREPLY=($(compgen -W "$commands --help --version" -- "$cur"))
  	elif declare -F "_pmm_${COMP_WORDS[1]}" >/dev/null; then
  		"_pmm_${COMP_WORDS[1]}"
  	fi
  }
  complete -F _pmm pmm
$ pmm help --completion zsh | head -81
  #compdef pmm
  # zsh completion for pmm, made by 'pmm help --completion zsh'
  
  _pmm() {
  	local -a commands
  	commands=(
  		'run:launch a program and track its memory'
  		'attach:watch a process that is already running, then leave it as it was'
  		'detach:take pmm out of a process that was left attached'
  		'report:show what a capture or a running process holds and who holds it'
  		'diff:show what grew, shrank, appeared and vanished between two captures'
  		'budget:see whether captures are within the budgets that a project keeps in a file'
  		'leaks:find blocks that nothing points to any more, and call sites that grow'
  		'check:find heap errors\: overruns, uses after free, double and bad frees'
  		'snapshot:write the capture of a running, tracked process'
  		'trace:show what the kernel does about memory, and to whom'
  		'kmod:load the kernel module, show what it monitors and the logs that it keeps'
  		'doctor:say what works on this machine, and why not'
  		'help:explain pmm or one of its commands'
  	)
  	if ((CURRENT == 2)); then
  		_describe command commands
  		return
  	fi
  	shift words
  	((CURRENT--))
  	case $words[1] in
  	run)
  		_arguments -s -S \
  		'(-o --output)'{-o+,--output=}'[name of the capture; %p is the pid, %c the command (default pmm.%c.%p.pmm)]:FILE:_files' \
  		'--sample=-[record a sample only, one block per BYTES on average (512K)]::BYTES:' \
  		'--min-size=[track only blocks of at least BYTES]:BYTES:' \
  		'--no-follow[do not track children]' \
  		'--wait[of a COMMAND\: end when all processes that it leaves behind have ended, too (daemons), and report on all; Ctrl-C then ends the waiting]' \
  		'--ledger-limit=[memory one ledger may take (default a quarter of RAM, at most 16G)]:BYTES:' \
  		'--interval=[time between points of the time series (default adaptive; doubled when they get too many)]:SECONDS:' \
  		'--frames=[deepest stack kept (default 128)]:N:' \
  		'--warn-size=[count and report requests of at least BYTES as huge]:BYTES:' \
  		'--trace=-[also record what the kernel does about its memory, for '\''pmm report'\''; EVENTS is a list as '\''pmm trace'\'' has it (default\: page faults, mappings, swap, reclaim, compaction, huge pages, OOM, stack)]::EVENTS:' \
  		'--leaks[search each process for leaks at its end; '\''pmm leaks FILE'\'' reports them again]' \
  		'--error-exitcode=[with --leaks\: exit code when leaks were found that are certain or likely]:N:' \
  		'--suppressions=[with --leaks\: do not report what FILE suppresses (Valgrind'\''s or LeakSanitizer'\''s form; may be given again)]:FILE:' \
  		'--no-default-suppressions[with --leaks\: also report what the C library and run-time systems keep on purpose]' \
  		'(-q --quiet)'{-q,--quiet}'[no summary on stderr; with --leaks only what is lost]' \
  		'(-h --help)'{-h,--help}'[show the options]' \
  		'(-)1:program:_command_names -e' \
  		'*::arguments:_normal'
  		;;
  	attach)
  		_arguments -s -S \
  		'(-d --duration)'{-d+,--duration=}'[detach after TIME (seconds, or 10ms, 5m, 2h, 1d)]:TIME:' \
  		'--expire=[report blocks that live for TIME (default 10s)]:TIME:' \
  		'--interval=[time between readings of the heap (default\: a second or more, so that they take 2% of a processor at most)]:TIME:' \
  		'--sample=-[record a sample only, one block per BYTES on average (512K)]::BYTES:' \
  		'--check[guard some of the sampled blocks (--sample, here 128K) and report accesses beside them and after their release]' \
  		'--budget=[CPU time that --check may take for guarding, in percent of the program'\''s own (default 1)]:PERCENT|all:' \
  		'--exact[record every block (the default)]' \
  		'--min-size=[track only blocks of at least BYTES]:BYTES:' \
  		'--warn-size=[count requests of at least BYTES as huge]:BYTES:' \
  		'--frames=[deepest stack kept (default 128)]:N:' \
  		'--ledger-limit=[memory the ledger may take (default a quarter of RAM, at most 16G)]:BYTES:' \
  		'--alloc=[an allocator of the program'\''s own\: malloc(arg0), calloc(arg0,arg1), realloc(arg0,arg1), free(arg0), or malloc(16) for a fixed size; may be given again]:[MODULE:]NAME=KIND(ARGS):' \
  		'--trace=-[also record what the kernel does about its memory\: in the capture (--output), for '\''pmm report'\'', and as sums at the end; EVENTS is a list as '\''pmm trace'\'' has it (default\: page faults, mappings, swap, reclaim, compaction, huge pages, OOM, stack)]::EVENTS:' \
  		'(-o --output)'{-o+,--output=}'[write a capture at the end (%p\: pid, %c\: command)]:FILE:_files' \
  		'--json[write lines of JSON (schema pmm-attach/1.2)]' \
  		'--top=[sites at the end (default 10, as JSON all; 0 = all)]:N:' \
  		'(-q --quiet)'{-q,--quiet}'[no messages but errors]' \
  		'--width=[columns of a line of text (default the terminal'\''s; as long as need be in files and pipes)]:N:' \
  		'(-h --help)'{-h,--help}'[show the options]' \
  		'*:process:_pids'
  		;;
  	detach)
  		_arguments -s -S \
  		'(-q --quiet)'{-q,--quiet}'[no messages but errors]' \
  		'(-h --help)'{-h,--help}'[show the options]' \
  		'*:process:_pids'
  		;;
  	report)
  		_arguments -s -S \
  		'--format=[form of the report (default text)\: json; html, a page for a browser; and for other tools, with all stacks, collapsed, speedscope, pprof; '\''pmm help formats'\'' says who reads what]:FORM:(text json html csv svg collapsed speedscope pprof massif dhat heaptrack chrome-trace openmetrics valgrind-xml sarif junit)' \
  		'(-o --output)'{-o+,--output=}'[write there, - is standard output (%p\: pid, %c\: command); default - for text, json and collapsed, else pmm.%c.%p. with the form'\''s ending]:FILE:_files' \
$ pmm help --completion fish
  pmm: 'fish' is not a choice of --completion
  pmm: hint: one of: bash, zsh
[2]
$ pmm help nothing
  pmm: no command 'nothing'
  pmm: hint: 'pmm help' lists the commands
[2]
$ pmm help run attach
  pmm: unexpected argument 'attach'
  pmm: hint: usage: pmm help [options] [COMMAND|formats]
[2]
$ pmm rnu
  pmm: no command 'rnu'
  pmm: hint: did you mean 'pmm run'?
[2]
$ pmm reprot x
  pmm: no command 'reprot'
  pmm: hint: did you mean 'pmm report'?
[2]
$ pmm zzzzzz
  pmm: no command 'zzzzzz'
  pmm: hint: 'pmm help' lists the commands
[2]
$ pmm --versoin
  pmm: no command '--versoin'
  pmm: hint: 'pmm help' lists the commands
[2]
$ pmm report --tpo 3 x
  pmm: unknown option '--tpo'
  pmm: hint: did you mean '--top'?
[2]
$ pmm report --top
  pmm: option '--top' needs an argument
  pmm: hint: 'pmm report --help' lists the options
[2]
$ pmm report --top x y
  pmm: --top: 'x' is not a number
  pmm: hint: decimal digits only
[2]
$ pmm report a b
  pmm: unexpected argument 'b'
  pmm: hint: usage: pmm report [options] FILE|PID, one at a time
[2]
$ pmm report -Z
  pmm: unknown option '-Z'
  pmm: hint: 'pmm report --help' lists the options
[2]
$ pmm detach
  pmm: 'pmm detach' needs an argument
  pmm: hint: usage: pmm detach [options] PID
[2]
$ pmm detach 1 2
  pmm: unexpected argument '2'
  pmm: hint: usage: pmm detach [options] PID, one at a time
[2]
$ pmm detach x
  pmm: 'x' is not a process number
  pmm: hint: 'pgrep -a x' lists the processes of that name with their numbers
[2]
$ pmm detach 0
  pmm: '0' is not a process number
  pmm: hint: 'ps -e' lists all processes with their numbers
[2]
$ pmm detach 999999999
  pmm: no process 999999999
  pmm: hint: nothing of pmm is left in a process that has ended
[3]
$ pmm snapshot 999999999
  pmm: no process 999999999
  pmm: hint: a process is captured while it runs; 'pmm run' and 'pmm attach' write a capture when it ends
[3]
$ pmm detach --json 1
  pmm: unknown option '--json'
  pmm: hint: 'pmm detach --help' lists the options
[2]
$ pmm help >/dev/full
  pmm: cannot write to standard output: No space left on device
[3]
$ pmm help --man run >/dev/full
  pmm: cannot write to standard output: No space left on device
[3]
$ pmm --version >/dev/full
  pmm: cannot write to standard output: No space left on device
[3]
