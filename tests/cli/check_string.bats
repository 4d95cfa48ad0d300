#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# String and memory functions against the bounds of blocks (agent/strings/bounds.h).

load lib

setup() { cd "$T" || return 1; }

# checked [-OPTION...] NAME ARG: output and status as natively; "FUNCTION TYPE ACCESS SIZE COUNT" in $T/found, BY for those of no function.
checked() {
	local options=() native=0 status=0 name
	while [[ $1 == -* ]]; do options+=("$1"); shift; done
	name=$(path "$1"); shift
	within "$name" "$@" >native.out 2>&1 || native=$?
	within "$PMM" check --json --report found.json --budget all "${options[@]}" -- "$name" "$@" >checked.out 2>&1 || status=$?
	diff native.out checked.out
	[ "$native" -eq "$status" ]
	jq -r '.findings[] | [.function_called // .by, .type, .access // "-", .size_bytes // "-", .count] | map(tostring) | join(" ")' found.json |
		LC_ALL=C sort >found
}

# everywhere NAME LINES: at both levels with bounds, from either end of a page: silent when right, exactly these when wrong.
everywhere() {
	local options
	for options in --level=light --level=guard "--level=guard --no-madvise-guard"; do
		# shellcheck disable=SC2086
		checked $options "$1" right
		diff /dev/null found
		# shellcheck disable=SC2086
		checked $options "$1" wrong
		diff <(LC_ALL=C sort <<<"$2") found
	done
}

@test "memory functions: bounds of small and large blocks, overlap; what differs or is found before the end is no error" {
	everywhere check_string_memory "bcopy overrun write 25 1
bzero overrun write 25 1
explicit_bzero overrun write 25 1
memccpy overrun write 25 1
memchr overrun read 25 1
memcmp overrun read 25 1
memcpy overlap - 10 1
memcpy overrun read 25 1
memcpy overrun write 1 1
memcpy overrun write 25 1
memmove overrun write 25 1
mempcpy overrun write 25 1
memrchr overrun read 25 1
memset overrun write 11 1
memset overrun write 25 1"
}

@test "string functions: strings without end, strings too long for their block" {
	everywhere check_string_text "stpcpy overrun write 25 1
stpncpy overrun write 25 1
strcasecmp overrun read 25 1
strcat overrun write 21 1
strchr overrun read 25 1
strchrnul overrun read 25 1
strcmp overrun read 25 1
strcpy overlap - 11 1
strcpy overrun read 25 1
strcpy overrun write 25 1
strcspn overrun read 25 1
strdup overrun read 25 1
strlen overrun read 25 1
strncasecmp overrun read 25 1
strncat overrun write 21 1
strncmp overrun read 25 1
strncpy overrun write 25 1
strncpy overrun write 25 1
strndup overrun read 25 1
strnlen overrun read 25 1
strpbrk overrun read 25 1
strrchr overrun read 25 1
strspn overrun read 25 1
strstr overrun read 25 1"
}

@test "printing with floating point, wide characters, what is read from elsewhere" {
	everywhere check_string_more "read overrun write 25 1
snprintf overrun write 25 1
sprintf overrun write 25 1
vsnprintf overrun write 25 1
vsprintf overrun write 25 1
wcscpy overrun write 28 1
wcslen overrun read 25 1
wmemcpy overrun write 28 1
wmemset overrun write 28 1"
}

@test "tokens, strings in strings, wide strings, fortified forms" {
	everywhere check_string_token "read overrun write 25 1
strcasestr overrun read 25 1
strsep overrun read 25 1
strtok overrun read 25 1
strtok_r overrun read 25 1
wcschr overrun read 25 1
wcscpy overrun write 28 1
wcsncat overrun write 28 1
wcsncmp overrun read 32 1
wcsrchr overrun read 25 1
wcsstr overrun read 25 1
wmemcpy overrun write 28 1"
}

@test "system calls and streams: what comes, what goes; the guard pool's closed pages do not make them fail" {
	everywhere check_string_io "fgets overrun write 25 1
fputs overrun read 25 1
fread overrun write 25 1
fwrite overrun read 25 1
pread overrun write 25 1
puts overrun read 25 1
pwrite overrun read 25 1
read overrun write 25 1
readlink overrun write 25 1
readv overrun write 25 1
recv overrun write 25 1
recvfrom overrun write 25 1
recvmsg overrun write 25 1
send overrun read 25 1
sendmsg overrun read 25 1
sendto overrun read 25 1
write overrun read 25 1
writev overrun read 25 1"
}

@test "strings that are printed, by every function that does, and formats" {
	everywhere check_string_format "asprintf overrun read 25 1
asprintf overrun read 25 1
dprintf overrun read 25 1
dprintf overrun read 25 1
fprintf overrun read 25 1
fprintf overrun read 25 1
fprintf overrun read 25 1
fprintf overrun read 25 1
fprintf overrun read 25 1
printf overrun read 25 1
printf overrun read 25 1
snprintf overrun read 25 1
snprintf overrun read 25 1
sprintf overrun read 25 1
sprintf overrun read 25 1
vasprintf overrun read 25 1
vasprintf overrun read 25 1
vdprintf overrun read 25 1
vdprintf overrun read 25 1
vfprintf overrun read 25 1
vfprintf overrun read 25 1
vfprintf overrun read 25 1
vprintf overrun read 25 1
vsnprintf overrun read 25 1
vsnprintf overrun read 25 1
vsprintf overrun read 25 1
vsprintf overrun read 25 1"
}

@test "streams without locks; lines into blocks that are said to be larger than they are" {
	everywhere check_string_stream "fgets_unlocked overrun write 25 1
fputs_unlocked overrun read 25 1
fread_unlocked overrun write 25 1
fwrite_unlocked overrun read 25 1
getdelim overrun write 25 1
getline overrun write 25 1"
}

@test "names that the kernel and the C library tell" {
	local host
	host=$(uname -n | wc -c)
	everywhere check_string_path "getcwd overrun write 2 1
getcwd overrun write 2 1
gethostname overrun write $host 1
gethostname overrun write $host 1
readlinkat overrun write 25 1
readlinkat overrun write 25 1
realpath overrun write 2 1
realpath overrun write 2 1"
}

@test "fortified forms where the compiler knew little" {
	everywhere check_string_fortified "explicit_bzero overrun write 25 1
fgets overrun write 25 1
fgets_unlocked overrun write 25 1
fread overrun write 25 1
fread_unlocked overrun write 25 1
memcpy overrun write 25 1
memmove overrun write 25 1
mempcpy overrun write 25 1
memset overrun write 25 1
pread overrun write 25 1
pread overrun write 25 1
readlink overrun write 25 1
recv overrun write 25 1
recvfrom overrun write 25 1
stpcpy overrun write 25 1
stpncpy overrun write 25 1
strcat overrun write 25 1
strcpy overrun write 25 1
strncat overrun write 25 1
strncpy overrun write 25 1
wcpcpy overrun write 28 1
wcscat overrun write 28 1
wcsncat overrun write 28 1
wcsncpy overrun write 28 1
wmemmove overrun write 28 1
wmempcpy overrun write 28 1
wmemset overrun write 28 1"
}

@test "wide strings and memory, the order of a language, memory in memory" {
	everywhere check_string_rest "memmem overrun read 25 1
rawmemchr overrun read 25 1
strchr overrun read 25 1
strcoll overrun read 25 1
strcoll overrun read 25 1
strrchr overrun read 25 1
strxfrm overrun read 25 1
strxfrm overrun write 25 1
wcpcpy overrun write 28 1
wcscat overrun write 28 1
wcscmp overrun read 25 1
wcsncpy overrun write 28 1
wcsnlen overrun read 400 1
wmemchr overrun read 28 1
wmemcmp overrun read 28 1
wmemmove overrun write 28 1
wmempcpy overrun write 28 1"
}

@test "system calls that fill or read what they know the size of, and names of files" {
	local options
	everywhere check_string_calls "bind overrun read 110 1
clock_gettime overrun write 16 1
epoll_ctl overrun read 12 1
epoll_wait overrun write 12 1
fstat overrun write 144 1
fstatat overrun write 144 1
fstatfs overrun write 120 1
getentropy overrun write 100 1
getpeername overrun write 2 1
getrandom overrun write 100 1
getrusage overrun write 144 1
getsockname overrun write 2 1
getsockopt overrun write 4 1
lstat overrun write 144 1
pipe overrun write 8 1
pipe2 overrun write 8 1
poll overrun write 8 1
select overrun write 8 1
setsockopt overrun read 4 1
socketpair overrun write 8 1
stat overrun write 144 1
statfs overrun write 120 1
statx overrun write 256 1
sysinfo overrun write 112 1
uname overrun write 390 1"
	for options in --level=guard --left --no-madvise-guard; do
		checked "$options" check_string_calls released
		diff - found <<-END
		access use-after-free read 1 1
		bind use-after-free read 110 1
		clock_gettime use-after-free write 16 1
		epoll_ctl use-after-free read 12 1
		fstat use-after-free write 144 1
		fstatat use-after-free write 144 1
		fstatfs use-after-free write 120 1
		getentropy use-after-free write 100 1
		getpeername use-after-free write 2 1
		getrandom use-after-free write 100 1
		getrusage use-after-free write 144 1
		getsockname use-after-free write 2 1
		getsockopt use-after-free write 4 1
		ioctl use-after-free write 4 1
		lstat use-after-free write 144 1
		mkdir use-after-free read 1 1
		open use-after-free read 1 1
		openat use-after-free read 1 1
		pipe use-after-free write 8 1
		pipe2 use-after-free write 8 1
		poll use-after-free write 8 1
		rename use-after-free read 1 1
		select use-after-free write 8 1
		setsockopt use-after-free read 4 1
		socketpair use-after-free write 8 1
		stat use-after-free read 1 1
		stat use-after-free write 144 1
		statfs use-after-free write 120 1
		statx use-after-free write 256 1
		sysinfo use-after-free write 112 1
		uname use-after-free write 390 1
		unlink use-after-free read 1 1
		END
	done
}

@test "who asks the kernel whether memory is there is answered" {
	checked --level=light check_string_probe
	diff /dev/null found
	grep -qx "18000 of 18000" checked.out
	checked check_string_probe
	diff /dev/null found
}

@test "memcpy of programs linked before glibc 2.14 may overlap" {
	local level
	for level in light guard; do
		checked --level=$level check_string_old right
		diff /dev/null found
		checked --level=$level check_string_old wrong
		diff <(echo "memcpy overrun write 6 1") found
		checked --level=$level check_string_old overlap
		diff <(echo "memcpy overlap - 10 1") found
	done
}

@test "released blocks, at the start and within; signal handlers, threads, forked children" {
	everywhere check_string_freed "memcpy use-after-free read 16 1
memcpy use-after-free read 16 1
memcpy use-after-free read 16 1
memset overrun write 11 1
memset use-after-free write 8 1
strlen use-after-free read 1 1"
}

@test "far into large blocks, released and live" {
	everywhere check_string_deep "fwrite use-after-free read 4000 1
memcpy overrun read 170001 1
memcpy use-after-free read 100 1
memcpy use-after-free read 300 1
memmove overrun read 100001 1"
}

@test "a finding names the first byte out of bounds, the block and the caller" {
	local address block rest
	checked --level=light check_string_memory wrong
	jq -r '.findings[] | select(.function_called == "memset" and .size_bytes == 25) |
		[.address, .block_address, .by, .block_bytes, .frames[0].function] | map(tostring) | join(" ")' found.json >one
	read -r address block rest <one
	[ $((address - block)) -eq 24 ]
	[ "$rest" = "function 24 main" ]
}

@test "switched off" {
	checked --level=light --no-strings check_string_text wrong
	! grep -v '^sweep\|^release' found
}

@test "resolvers of a library's functions call string functions before the agent is relocated" {
	checked --level=light check_string_early now
	diff /dev/null found
	LD_BIND_NOW=1 checked --level=guard check_string_early now
	diff /dev/null found
}

@test "the agent's own copies do not go through its hooks" {
	readelf -Wr "$(dirname "$PMM")/libpmm_check.so" >relocations
	objdump -d --no-show-raw-insn "$(dirname "$PMM")/libpmm_check.so" >code
	grep -q '<agent_memcpy>' code
	! grep -E ' (mem|str|wcs|wmem|bcmp|bcopy|bzero)' relocations || false
	! grep -E 'call +[0-9a-f]+ <(mem|str|stp|wcs|wmem|bcmp|bcopy|bzero)[a-z]*>' code || false
}

@test "correct programs are silent" {
	local level
	printf '{"a": [1, 2.5, "text", {"b": null}]}\n' >some.json
	for level in light guard; do
		for command in "perl -e my%h;\$h{\$_}=\"v\"x(\$_%50)for(1..3000);print(length(join(',',sort(values(%h)))))" \
			"python3 -c import(json)" "sqlite3 :memory: select(hex('text')||printf('%.3f',1.5))" "jq . some.json" "bash -c echo" \
			"gcc -x c -fsyntax-only /dev/null" "git --version"; do
			command -v "${command%% *}" >/dev/null || continue
			# shellcheck disable=SC2086
			within "$PMM" check --level=$level --json --report found.json -- $command >out 2>&1 || true
			jq -e '[.findings[] | select(.by == "function")] == []' found.json
		done
	done
}

@test "the end of a block that lies where no block begins" {
	local who
	for who in "" child; do
		# shellcheck disable=SC2086
		checked --level=light check_straddle right $who
		diff /dev/null found
		# shellcheck disable=SC2086
		checked --level=light check_straddle wrong $who
		diff <(echo "memset overrun write 20 1") found
	done
}
