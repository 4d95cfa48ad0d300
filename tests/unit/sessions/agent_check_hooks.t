# SPDX-License-Identifier: GPL-2.0-or-later
# found OPTIONS -- PROGRAM ARG...: output and status must be as natively; each finding: function (or by what), type, access, size, count, place.
$ cat >found <<'END'
> options=
> while [ "$1" != -- ]; do options="$options $1"; shift; done
> shift
> program=$PROG/$1; shift
> native=0; checked=0
> "$program" "$@" >native.out 2>&1 || native=$?
> pmm check --json --report found.json --budget all $options -- "$program" "$@" >checked.out 2>&1 || checked=$?
> cmp native.out checked.out || diff native.out checked.out | head -5
> [ $native = $checked ] || echo "status $checked, natively $native"
> jq -r '.findings[] | [.function_called // .by, .type, .access // "-", .size_bytes // "-", .count, .offset_bytes // "-", .block_bytes // "-", .frames[0].function] | map(tostring) | join(" ")' found.json | sort
> END
> chmod +x found
$ ./found --level=light -- check_string_memory wrong
  bcopy overrun write 25 1 - 24 main
  bzero overrun write 25 1 - 24 main
  explicit_bzero overrun write 25 1 - 24 main
  memccpy overrun write 25 1 - 24 main
  memchr overrun read 25 1 - 24 main
  memcmp overrun read 25 1 - 24 main
  memcpy overlap - 10 1 - 24 main
  memcpy overrun read 25 1 - 24 main
  memcpy overrun write 1 1 - 24 main
  memcpy overrun write 25 1 - 24 main
  memmove overrun write 25 1 - 24 main
  mempcpy overrun write 25 1 - 24 main
  memrchr overrun read 25 1 - 24 main
  memset overrun write 11 1 - 100000 main
  memset overrun write 25 1 - 24 main
$ ./found --level=light -- check_string_memory right
$ ./found --level=guard -- check_string_memory wrong
  bcopy overrun write 25 1 - 24 main
  bzero overrun write 25 1 - 24 main
  explicit_bzero overrun write 25 1 - 24 main
  memccpy overrun write 25 1 - 24 main
  memchr overrun read 25 1 - 24 main
  memcmp overrun read 25 1 - 24 main
  memcpy overlap - 10 1 - 24 main
  memcpy overrun read 25 1 - 24 main
  memcpy overrun write 1 1 - 24 main
  memcpy overrun write 25 1 - 24 main
  memmove overrun write 25 1 - 24 main
  mempcpy overrun write 25 1 - 24 main
  memrchr overrun read 25 1 - 24 main
  memset overrun write 11 1 - 100000 main
  memset overrun write 25 1 - 24 main
$ ./found --level=guard -- check_string_memory right
$ ./found --level=light -- check_string_text wrong
  stpcpy overrun write 25 1 - 24 main
  stpncpy overrun write 25 1 - 24 main
  strcasecmp overrun read 25 1 - 24 main
  strcat overrun write 21 1 - 24 main
  strchr overrun read 25 1 - 24 main
  strchrnul overrun read 25 1 - 24 main
  strcmp overrun read 25 1 - 24 main
  strcpy overlap - 11 1 - 24 main
  strcpy overrun read 25 1 - 24 main
  strcpy overrun write 25 1 - 24 main
  strcspn overrun read 25 1 - 24 main
  strdup overrun read 25 1 - 24 main
  strlen overrun read 25 1 - 24 main
  strncasecmp overrun read 25 1 - 24 main
  strncat overrun write 21 1 - 24 main
  strncmp overrun read 25 1 - 24 main
  strncpy overrun write 25 1 - 24 main
  strncpy overrun write 25 1 - 24 main
  strndup overrun read 25 1 - 24 main
  strnlen overrun read 25 1 - 24 main
  strpbrk overrun read 25 1 - 24 main
  strrchr overrun read 25 1 - 24 main
  strspn overrun read 25 1 - 24 main
  strstr overrun read 25 1 - 24 main
$ ./found --level=light -- check_string_text right
$ ./found --level=guard -- check_string_text wrong
  stpcpy overrun write 25 1 - 24 main
  stpncpy overrun write 25 1 - 24 main
  strcasecmp overrun read 25 1 - 24 main
  strcat overrun write 21 1 - 24 main
  strchr overrun read 25 1 - 24 main
  strchrnul overrun read 25 1 - 24 main
  strcmp overrun read 25 1 - 24 main
  strcpy overlap - 11 1 - 24 main
  strcpy overrun read 25 1 - 24 main
  strcpy overrun write 25 1 - 24 main
  strcspn overrun read 25 1 - 24 main
  strdup overrun read 25 1 - 24 main
  strlen overrun read 25 1 - 24 main
  strncasecmp overrun read 25 1 - 24 main
  strncat overrun write 21 1 - 24 main
  strncmp overrun read 25 1 - 24 main
  strncpy overrun write 25 1 - 24 main
  strncpy overrun write 25 1 - 24 main
  strndup overrun read 25 1 - 24 main
  strnlen overrun read 25 1 - 24 main
  strpbrk overrun read 25 1 - 24 main
  strrchr overrun read 25 1 - 24 main
  strspn overrun read 25 1 - 24 main
  strstr overrun read 25 1 - 24 main
$ ./found --level=guard -- check_string_text right
$ ./found --level=light -- check_string_more wrong
  read overrun write 25 1 - 24 main
  snprintf overrun write 25 1 - 24 main
  sprintf overrun write 25 1 - 24 main
  vsnprintf overrun write 25 1 - 24 print
  vsprintf overrun write 25 1 - 24 print
  wcscpy overrun write 28 1 - 24 main
  wcslen overrun read 25 1 - 24 main
  wmemcpy overrun write 28 1 - 24 main
  wmemset overrun write 28 1 - 24 main
$ ./found --level=light -- check_string_more right
$ ./found --level=guard -- check_string_more wrong
  read overrun write 25 1 - 24 main
  snprintf overrun write 25 1 - 24 main
  sprintf overrun write 25 1 - 24 main
  vsnprintf overrun write 25 1 - 24 print
  vsprintf overrun write 25 1 - 24 print
  wcscpy overrun write 28 1 - 24 main
  wcslen overrun read 25 1 - 24 main
  wmemcpy overrun write 28 1 - 24 main
  wmemset overrun write 28 1 - 24 main
$ ./found --level=guard -- check_string_more right
$ ./found --level=light -- check_string_token wrong
  read overrun write 25 1 - 24 main
  strcasestr overrun read 25 1 - 24 main
  strsep overrun read 25 1 - 24 main
  strtok overrun read 25 1 - 24 main
  strtok_r overrun read 25 1 - 24 main
  wcschr overrun read 25 1 - 24 main
  wcscpy overrun write 28 1 - 24 main
  wcsncat overrun write 28 1 - 24 main
  wcsncmp overrun read 32 1 - 24 main
  wcsrchr overrun read 25 1 - 24 main
  wcsstr overrun read 25 1 - 24 main
  wmemcpy overrun write 28 1 - 24 main
$ ./found --level=light -- check_string_token right
$ ./found --level=guard -- check_string_token wrong
  read overrun write 25 1 - 24 main
  strcasestr overrun read 25 1 - 24 main
  strsep overrun read 25 1 - 24 main
  strtok overrun read 25 1 - 24 main
  strtok_r overrun read 25 1 - 24 main
  wcschr overrun read 25 1 - 24 main
  wcscpy overrun write 28 1 - 24 main
  wcsncat overrun write 28 1 - 24 main
  wcsncmp overrun read 32 1 - 24 main
  wcsrchr overrun read 25 1 - 24 main
  wcsstr overrun read 25 1 - 24 main
  wmemcpy overrun write 28 1 - 24 main
$ ./found --level=guard -- check_string_token right
$ ./found --level=light -- check_string_io wrong
  fgets overrun write 25 1 - 24 main
  fputs overrun read 25 1 - 24 main
  fread overrun write 25 1 - 24 main
  fwrite overrun read 25 1 - 24 main
  pread overrun write 25 1 - 24 main
  puts overrun read 25 1 - 24 main
  pwrite overrun read 25 1 - 24 main
  read overrun write 25 1 - 24 main
  readlink overrun write 25 1 - 24 main
  readv overrun write 25 1 - 24 main
  recv overrun write 25 1 - 24 main
  recvfrom overrun write 25 1 - 24 main
  recvmsg overrun write 25 1 - 24 main
  send overrun read 25 1 - 24 main
  sendmsg overrun read 25 1 - 24 main
  sendto overrun read 25 1 - 24 main
  write overrun read 25 1 - 24 main
  writev overrun read 25 1 - 24 main
$ ./found --level=light -- check_string_io right
$ ./found --level=guard -- check_string_io wrong
  fgets overrun write 25 1 - 24 main
  fputs overrun read 25 1 - 24 main
  fread overrun write 25 1 - 24 main
  fwrite overrun read 25 1 - 24 main
  pread overrun write 25 1 - 24 main
  puts overrun read 25 1 - 24 main
  pwrite overrun read 25 1 - 24 main
  read overrun write 25 1 - 24 main
  readlink overrun write 25 1 - 24 main
  readv overrun write 25 1 - 24 main
  recv overrun write 25 1 - 24 main
  recvfrom overrun write 25 1 - 24 main
  recvmsg overrun write 25 1 - 24 main
  send overrun read 25 1 - 24 main
  sendmsg overrun read 25 1 - 24 main
  sendto overrun read 25 1 - 24 main
  write overrun read 25 1 - 24 main
  writev overrun read 25 1 - 24 main
$ ./found --level=guard -- check_string_io right
$ ./found --level=light -- check_string_format wrong
  asprintf overrun read 25 1 - 24 main
  asprintf overrun read 25 1 - 24 main
  dprintf overrun read 25 1 - 24 main
  dprintf overrun read 25 1 - 24 main
  fprintf overrun read 25 1 - 24 main
  fprintf overrun read 25 1 - 24 main
  fprintf overrun read 25 1 - 24 main
  fprintf overrun read 25 1 - 24 main
  fprintf overrun read 25 1 - 24 main
  printf overrun read 25 1 - 24 main
  printf overrun read 25 1 - 24 main
  snprintf overrun read 25 1 - 24 main
  snprintf overrun read 25 1 - 24 main
  sprintf overrun read 25 1 - 24 main
  sprintf overrun read 25 1 - 24 main
  vasprintf overrun read 25 1 - 24 lists
  vasprintf overrun read 25 1 - 24 lists
  vdprintf overrun read 25 1 - 24 lists
  vdprintf overrun read 25 1 - 24 lists
  vfprintf overrun read 25 1 - 24 lists
  vfprintf overrun read 25 1 - 24 lists
  vfprintf overrun read 25 1 - 24 vprintf
  vprintf overrun read 25 1 - 24 lists
  vsnprintf overrun read 25 1 - 24 lists
  vsnprintf overrun read 25 1 - 24 lists
  vsprintf overrun read 25 1 - 24 lists
  vsprintf overrun read 25 1 - 24 lists
$ ./found --level=light -- check_string_format right
$ ./found --level=guard -- check_string_format wrong
  asprintf overrun read 25 1 - 24 main
  asprintf overrun read 25 1 - 24 main
  dprintf overrun read 25 1 - 24 main
  dprintf overrun read 25 1 - 24 main
  fprintf overrun read 25 1 - 24 main
  fprintf overrun read 25 1 - 24 main
  fprintf overrun read 25 1 - 24 main
  fprintf overrun read 25 1 - 24 main
  fprintf overrun read 25 1 - 24 main
  printf overrun read 25 1 - 24 main
  printf overrun read 25 1 - 24 main
  snprintf overrun read 25 1 - 24 main
  snprintf overrun read 25 1 - 24 main
  sprintf overrun read 25 1 - 24 main
  sprintf overrun read 25 1 - 24 main
  vasprintf overrun read 25 1 - 24 lists
  vasprintf overrun read 25 1 - 24 lists
  vdprintf overrun read 25 1 - 24 lists
  vdprintf overrun read 25 1 - 24 lists
  vfprintf overrun read 25 1 - 24 lists
  vfprintf overrun read 25 1 - 24 lists
  vfprintf overrun read 25 1 - 24 vprintf
  vprintf overrun read 25 1 - 24 lists
  vsnprintf overrun read 25 1 - 24 lists
  vsnprintf overrun read 25 1 - 24 lists
  vsprintf overrun read 25 1 - 24 lists
  vsprintf overrun read 25 1 - 24 lists
$ ./found --level=guard -- check_string_format right
$ ./found --level=light -- check_string_rest wrong
  memmem overrun read 25 1 - 24 main
  rawmemchr overrun read 25 1 - 24 main
  strchr overrun read 25 1 - 24 main
  strcoll overrun read 25 1 - 24 main
  strcoll overrun read 25 1 - 24 main
  strrchr overrun read 25 1 - 24 main
  strxfrm overrun read 25 1 - 24 main
  strxfrm overrun write 25 1 - 24 main
  wcpcpy overrun write 28 1 - 24 main
  wcscat overrun write 28 1 - 24 main
  wcscmp overrun read 25 1 - 24 main
  wcsncpy overrun write 28 1 - 24 main
  wcsnlen overrun read 400 1 - 24 main
  wmemchr overrun read 28 1 - 24 main
  wmemcmp overrun read 28 1 - 24 main
  wmemmove overrun write 28 1 - 24 main
  wmempcpy overrun write 28 1 - 24 main
$ ./found --level=light -- check_string_rest right
$ ./found --level=guard -- check_string_rest wrong
  memmem overrun read 25 1 - 24 main
  rawmemchr overrun read 25 1 - 24 main
  strchr overrun read 25 1 - 24 main
  strcoll overrun read 25 1 - 24 main
  strcoll overrun read 25 1 - 24 main
  strrchr overrun read 25 1 - 24 main
  strxfrm overrun read 25 1 - 24 main
  strxfrm overrun write 25 1 - 24 main
  wcpcpy overrun write 28 1 - 24 main
  wcscat overrun write 28 1 - 24 main
  wcscmp overrun read 25 1 - 24 main
  wcsncpy overrun write 28 1 - 24 main
  wcsnlen overrun read 400 1 - 24 main
  wmemchr overrun read 28 1 - 24 main
  wmemcmp overrun read 28 1 - 24 main
  wmemmove overrun write 28 1 - 24 main
  wmempcpy overrun write 28 1 - 24 main
$ ./found --level=guard -- check_string_rest right
$ ./found --level=light -- check_string_stream wrong
  fgets_unlocked overrun write 25 1 - 24 main
  fputs_unlocked overrun read 25 1 - 24 main
  fread_unlocked overrun write 25 1 - 24 main
  fwrite_unlocked overrun read 25 1 - 24 main
  getdelim overrun write 25 1 - 24 main
  getline overrun write 25 1 - 24 getline
$ ./found --level=light -- check_string_stream right
$ ./found --level=guard -- check_string_stream wrong
  fgets_unlocked overrun write 25 1 - 24 main
  fputs_unlocked overrun read 25 1 - 24 main
  fread_unlocked overrun write 25 1 - 24 main
  fwrite_unlocked overrun read 25 1 - 24 main
  getdelim overrun write 25 1 - 24 main
  getline overrun write 25 1 - 24 getline
$ ./found --level=guard -- check_string_stream right
$ ./found --level=light -- check_string_old wrong
  memcpy overrun write 6 1 - 24 main
$ ./found --level=light -- check_string_old right
$ ./found --level=guard -- check_string_old wrong
  memcpy overrun write 6 1 - 24 main
$ ./found --level=guard -- check_string_old right
$ ./found --level=light -- check_string_path wrong
  getcwd overrun write 2 1 - 1 main
  getcwd overrun write 2 1 - 1 main
  gethostname overrun write 3 1 - 2 main
  gethostname overrun write 3 1 - 2 main
  readlinkat overrun write 25 1 - 24 main
  readlinkat overrun write 25 1 - 24 main
  realpath overrun write 2 1 - 1 main
  realpath overrun write 2 1 - 1 main
$ ./found --level=light -- check_string_path right
$ ./found --level=guard -- check_string_path wrong
  getcwd overrun write 2 1 - 1 main
  getcwd overrun write 2 1 - 1 main
  gethostname overrun write 3 1 - 2 main
  gethostname overrun write 3 1 - 2 main
  readlinkat overrun write 25 1 - 24 main
  readlinkat overrun write 25 1 - 24 main
  realpath overrun write 2 1 - 1 main
  realpath overrun write 2 1 - 1 main
$ ./found --level=guard -- check_string_path right
$ ./found --level=light -- check_string_fortified wrong
  explicit_bzero overrun write 25 1 - 24 main
  fgets overrun write 25 1 - 24 main
  fgets_unlocked overrun write 25 1 - 24 main
  fread overrun write 25 1 - 24 main
  fread_unlocked overrun write 25 1 - 24 main
  memcpy overrun write 25 1 - 24 main
  memmove overrun write 25 1 - 24 main
  mempcpy overrun write 25 1 - 24 main
  memset overrun write 25 1 - 24 main
  pread overrun write 25 1 - 24 main
  pread overrun write 25 1 - 24 main
  readlink overrun write 25 1 - 24 main
  recv overrun write 25 1 - 24 main
  recvfrom overrun write 25 1 - 24 main
  stpcpy overrun write 25 1 - 24 main
  stpncpy overrun write 25 1 - 24 main
  strcat overrun write 25 1 - 24 main
  strcpy overrun write 25 1 - 24 main
  strncat overrun write 25 1 - 24 main
  strncpy overrun write 25 1 - 24 main
  wcpcpy overrun write 28 1 - 24 main
  wcscat overrun write 28 1 - 24 main
  wcsncat overrun write 28 1 - 24 main
  wcsncpy overrun write 28 1 - 24 main
  wmemmove overrun write 28 1 - 24 main
  wmempcpy overrun write 28 1 - 24 main
  wmemset overrun write 28 1 - 24 main
$ ./found --level=light -- check_string_fortified right
$ ./found --level=guard -- check_string_fortified wrong
  explicit_bzero overrun write 25 1 - 24 main
  fgets overrun write 25 1 - 24 main
  fgets_unlocked overrun write 25 1 - 24 main
  fread overrun write 25 1 - 24 main
  fread_unlocked overrun write 25 1 - 24 main
  memcpy overrun write 25 1 - 24 main
  memmove overrun write 25 1 - 24 main
  mempcpy overrun write 25 1 - 24 main
  memset overrun write 25 1 - 24 main
  pread overrun write 25 1 - 24 main
  pread overrun write 25 1 - 24 main
  readlink overrun write 25 1 - 24 main
  recv overrun write 25 1 - 24 main
  recvfrom overrun write 25 1 - 24 main
  stpcpy overrun write 25 1 - 24 main
  stpncpy overrun write 25 1 - 24 main
  strcat overrun write 25 1 - 24 main
  strcpy overrun write 25 1 - 24 main
  strncat overrun write 25 1 - 24 main
  strncpy overrun write 25 1 - 24 main
  wcpcpy overrun write 28 1 - 24 main
  wcscat overrun write 28 1 - 24 main
  wcsncat overrun write 28 1 - 24 main
  wcsncpy overrun write 28 1 - 24 main
  wmemmove overrun write 28 1 - 24 main
  wmempcpy overrun write 28 1 - 24 main
  wmemset overrun write 28 1 - 24 main
$ ./found --level=guard -- check_string_fortified right
$ ./found --level=light -- check_string_calls wrong
  bind overrun read 110 1 - 109 descriptors
  clock_gettime overrun write 16 1 - 15 files
  epoll_ctl overrun read 12 1 - 11 descriptors
  epoll_wait overrun write 12 1 - 11 descriptors
  fstat overrun write 144 1 - 143 files
  fstatat overrun write 144 1 - 143 files
  fstatfs overrun write 120 1 - 119 files
  getentropy overrun write 100 1 - 99 files
  getpeername overrun write 2 1 - 1 descriptors
  getrandom overrun write 100 1 - 99 files
  getrusage overrun write 144 1 - 143 files
  getsockname overrun write 2 1 - 1 descriptors
  getsockopt overrun write 4 1 - 3 descriptors
  lstat overrun write 144 1 - 143 files
  pipe overrun write 8 1 - 7 descriptors
  pipe2 overrun write 8 1 - 7 descriptors
  poll overrun write 8 1 - 7 descriptors
  select overrun write 8 1 - 7 descriptors
  setsockopt overrun read 4 1 - 3 descriptors
  socketpair overrun write 8 1 - 7 descriptors
  stat overrun write 144 1 - 143 files
  statfs overrun write 120 1 - 119 files
  statx overrun write 256 1 - 255 files
  sysinfo overrun write 112 1 - 111 files
  uname overrun write 390 1 - 389 files
$ ./found --level=light -- check_string_calls right
$ ./found --level=guard -- check_string_calls wrong
  bind overrun read 110 1 - 109 descriptors
  clock_gettime overrun write 16 1 - 15 files
  epoll_ctl overrun read 12 1 - 11 descriptors
  epoll_wait overrun write 12 1 - 11 descriptors
  fstat overrun write 144 1 - 143 files
  fstatat overrun write 144 1 - 143 files
  fstatfs overrun write 120 1 - 119 files
  getentropy overrun write 100 1 - 99 files
  getpeername overrun write 2 1 - 1 descriptors
  getrandom overrun write 100 1 - 99 files
  getrusage overrun write 144 1 - 143 files
  getsockname overrun write 2 1 - 1 descriptors
  getsockopt overrun write 4 1 - 3 descriptors
  lstat overrun write 144 1 - 143 files
  pipe overrun write 8 1 - 7 descriptors
  pipe2 overrun write 8 1 - 7 descriptors
  poll overrun write 8 1 - 7 descriptors
  select overrun write 8 1 - 7 descriptors
  setsockopt overrun read 4 1 - 3 descriptors
  socketpair overrun write 8 1 - 7 descriptors
  stat overrun write 144 1 - 143 files
  statfs overrun write 120 1 - 119 files
  statx overrun write 256 1 - 255 files
  sysinfo overrun write 112 1 - 111 files
  uname overrun write 390 1 - 389 files
$ ./found --level=guard -- check_string_calls right
$ ./found --level=light -- check_string_freed wrong
  memcpy use-after-free read 16 1 - 96 touch
  memcpy use-after-free read 16 1 - 96 touch
  memcpy use-after-free read 16 1 - 96 touch
  memset overrun write 11 1 - 10 main
  memset use-after-free write 8 1 - 96 main
  strlen use-after-free read 1 1 - 96 main
$ ./found --level=light -- check_string_freed right
$ ./found --level=guard -- check_string_freed wrong
  memcpy use-after-free read 16 1 - 96 touch
  memcpy use-after-free read 16 1 - 96 touch
  memcpy use-after-free read 16 1 - 96 touch
  memset overrun write 11 1 - 10 main
  memset use-after-free write 8 1 - 96 main
  strlen use-after-free read 1 1 - 96 main
$ ./found --level=guard -- check_string_freed right
$ ./found --level=light -- check_string_results
$ ./found --level=guard -- check_string_results
