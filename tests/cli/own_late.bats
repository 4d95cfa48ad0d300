#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A library that comes by dlopen() and calls the allocator's own functions: what is not covered is said, and pmm check does not let it crash.

load leaks

SAID="calls [_a-z]*(), a function of its allocator's own: what it allocates and releases so is not recorded"

# built: a program that loads the libraries that it is given, one after the other, and calls `late` in each: by dlsym, or where a library's
# name begins with "self" by a pointer that its constructor hands over. Blocks are there before, in the meantime and after.
built() {
	cat >"$T/main.c" <<-'EOF'
		#include <dlfcn.h>
		#include <stdlib.h>
		#include <string.h>
		void (*given)(void);
		int main(int argc, char **argv)
		{
			char *volatile before = malloc(100), *volatile p;
			for (int i = 1; i < argc; i++) {
				void *lib = dlopen(argv[i], RTLD_NOW);
				void (*late)(void) = NULL;
				if (!lib)
					return 2;
				if (strstr(argv[i], "/self"))
					late = given;
				else
					late = (void (*)(void))dlsym(lib, "late");
				if (!late)
					return 3;
				late();
				before = realloc(before, 1000 * i);
				p = strdup("a string");
				free(p);
			}
			free(before);
			return 0;
		}
	EOF
	gcc -rdynamic -o "$T/main" "$T/main.c" -ldl
	library_of plain 'free(malloc(100));'
	library_of sees 'void *volatile p = __libc_malloc(100); __libc_free(p);'
	library_of takes 'void *volatile p = malloc(100); __libc_free(p); p = __libc_malloc(10); free(p);'
	library_of self 'void *volatile p = __libc_malloc(100); __libc_free(p);'
}

# library_of NAME CODE: NAME.so, whose late() executes that.
library_of() {
	cat >"$T/$1.c" <<-EOF
		#include <stdlib.h>
		extern void *__libc_malloc(size_t bytes);
		extern void __libc_free(void *block);
		extern void (*given)(void) __attribute__((weak));
		void late(void)
		{
			$2
		}
		static __attribute__((constructor)) void begin(void)
		{
			if (&given)
				given = late;
		}
	EOF
	gcc -shared -fPIC -o "$T/$1.so" "$T/$1.c"
}

# checked LEVEL LIBRARY...: pmm check runs the program to its good end; what it says is in $T/line, in JSON in $T/c.json.
checked() {
	local level=$1 status=0
	shift
	within "$PMM" check --level="$level" -- "$T/main" "$@" >"$T/out" 2>"$T/err" 3>&-
	tr -s '\n ' '  ' <"$T/err" >"$T/line"
	run ! grep -e 'crash' -e 'exited' -e 'SIG' "$T/err"
	within "$PMM" check --level="$level" --json --report "$T/c.json" --error-exitcode 9 --fail-on errors,unchecked -- "$T/main" "$@" 2>/dev/null 3>&- ||
		status=$?
	json_is 0 .check.findings <"$T/c.json"
	[ "$status" -eq 9 ]
}

@test "run: a library that only calls them is named in the summary, the report and its JSON" {
	built
	within "$PMM" run -o "$T/c.pmm" -- "$T/main" "$T/plain.so" "$T/sees.so" >"$T/out" 2>"$T/err" 3>&-
	grep -q "^pmm: WARNING: sees.so, loaded later, $SAID$" "$T/err"
	"$PMM" report --json "$T/c.pmm" >"$T/c.json"
	json_is '[1]' '[.warnings[] | select(.code == "own_calls") | .count]' <"$T/c.json"
	"$PMM" report "$T/c.pmm" >"$T/text"
	grep -q "^  mode     exact, but calls of the allocator's own functions are missing$" "$T/text"
	tr -s '\n ' '  ' <"$T/text" | grep -q "a library, loaded later, calls functions of its allocator's own"
}

@test "run: libraries without such calls, and one that only compares __libc_malloc: nothing is said" {
	built
	sed -e '/^extern.*__libc_free/d' -e 's/^\(extern.*__libc_malloc(size_t bytes)\)/\1 __attribute__((weak))/' \
		-e 's/free(malloc(100));/if (\&__libc_malloc) free(malloc(100));/' "$T/plain.c" >"$T/compares.c"
	gcc -shared -fPIC -o "$T/compares.so" "$T/compares.c"
	nm -D "$T/compares.so" | grep -q 'w __libc_malloc'
	within "$PMM" run -o "$T/c.pmm" -- "$T/main" "$T/plain.so" "$T/compares.so" >"$T/out" 2>"$T/err" 3>&-
	run ! grep 'WARNING' "$T/err"
	"$PMM" report "$T/c.pmm" | grep -q '^  mode     exact: every call$'
	within "$PMM" check --error-exitcode 9 --fail-on errors,unchecked -- "$T/main" "$T/plain.so" "$T/compares.so" 2>"$T/err" 3>&-
	grep -q "^pmm: main, pid [0-9]*: all [0-9]* blocks had canaries" "$T/err"
}

@test "run: a dependency of what is loaded, and one that was loaded, gone and comes again" {
	built
	echo 'void late(void) { }' >"$T/needs.c"
	gcc -shared -fPIC -Wl,--no-as-needed -Wl,-rpath,"$T" -o "$T/needs.so" "$T/needs.c" "$T/sees.so"
	within "$PMM" run -o "$T/c.pmm" -- "$T/main" "$T/needs.so" >"$T/out" 2>"$T/err" 3>&-
	grep -q "^pmm: WARNING: sees.so, loaded later, $SAID$" "$T/err"
	rm "$T/c.pmm"
	sed -i 's/late();/late(); dlclose(lib); if (i > 2) continue;/' "$T/main.c"
	gcc -rdynamic -o "$T/main" "$T/main.c" -ldl
	within "$PMM" run -o "$T/c.pmm" -- "$T/main" "$T"/{plain,plain,plain,sees}.so >"$T/out" 2>"$T/err" 3>&-
	grep -q "^pmm: WARNING: sees.so, loaded later, $SAID$" "$T/err"
}

@test "jemalloc: a library that calls its mallocx" {
	library libjemalloc.so.2
	built
	library_of own 'extern void *mallocx(size_t bytes, int flags); void *volatile p = mallocx(100, 0); free(p);'
	LD_PRELOAD=$LIBRARY within "$PMM" run -o "$T/c.pmm" -- "$T/main" "$T/own.so" >"$T/out" 2>"$T/err" 3>&-
	grep -q "^pmm: WARNING: own.so, loaded later, calls mallocx(), a function of its allocator's own" "$T/err"
	LD_PRELOAD=$LIBRARY within "$PMM" check -- "$T/main" "$T/own.so" >"$T/out" 2>"$T/err" 3>&-
	tr -s '\n ' '  ' <"$T/err" | grep -q "checking ended when own.so was loaded, which calls mallocx() of libjemalloc.so.2, its allocator's own function"
}

@test "check: blocks that it takes are plain by then, at each level, and the verdict says first that checking ended" {
	local level
	built
	"$T/main" "$T/plain.so" "$T/takes.so"
	for level in light guard sampled; do
		checked $level "$T/plain.so" "$T/takes.so"
		grep -q "pmm: 1 process not checked to the end: main (checking ended when takes.so was loaded, which calls __libc_[a-z]*() of glibc" "$T/line"
		grep -q "free to check it) pmm: none of 1 process was checked to the end: " "$T/line"
		json_is '[1,0,1]' '.tree | [.processes, .looked_at, .missed]' <"$T/c.json"
		json_is '[true]' '[.not_looked_at[].why | startswith("checking ended when takes.so was loaded")]' <"$T/c.json"
	done
	checked guard "$T/plain.so" "$T/takes.so"
	json_is true '.check | .canaried_blocks + .guarded_blocks > 0 and .unchecked_blocks > 0' <"$T/c.json"
}

@test "check: what was found before holds, and blocks from before are looked at when they are released" {
	built
	sed -i 's/before = realloc(before, 1000 \* i);//; s/free(before);/before[100] = 1; free(before);/' "$T/main.c"
	gcc -rdynamic -o "$T/main" "$T/main.c" -ldl
	within "$PMM" check --level=light -- "$T/main" "$T/plain.so" "$T/takes.so" >"$T/out" 2>"$T/err" 3>&-
	grep -q '^pmm: heap overrun' "$T/err"
	tr -s '\n ' '  ' <"$T/err" >"$T/line"
	grep -q "processes 1, none checked to the end ! 1 process was not checked to the end: main (checking ended when takes.so" "$T/line"
}

@test "check: in the forms of test results" {
	built
	within "$PMM" check --format junit --report "$T/c.xml" -- "$T/main" "$T/takes.so" 2>/dev/null 3>&-
	tr -s '\n ' '  ' <"$T/c.xml" | grep -q '<skipped message="1 process not checked to the end: main (checking ended when takes.so'
	within "$PMM" check --format sarif --report "$T/c.sarif" -- "$T/main" "$T/takes.so" 2>/dev/null 3>&-
	jq -r '.runs[0].invocations[].toolExecutionNotifications[].message.text' "$T/c.sarif" |
		grep -q '^check for heap errors: 1 process not checked to the end: main (checking ended when takes.so'
}

@test "check: a child that is forked before such a library comes is checked, one after that is not" {
	built
	cat >"$T/main.c" <<-'EOF'
		#include <dlfcn.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static void child(void (*release)(void *), void *inherited)
		{
			if (!fork()) {
				release(malloc(50));
				free(inherited);
				exit(0);
			}
			wait(NULL);
		}
		int main(int argc, char **argv)
		{
			void *p = malloc(10), *lib;
			void (*release)(void *);
			child(free, p);
			lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
			release = lib ? (void (*)(void *))dlsym(lib, "release") : NULL;
			if (!release)
				return 2;
			child(release, p);
			release(malloc(50));
			free(p);
			return 0;
		}
	EOF
	echo 'extern void __libc_free(void *block); void release(void *block) { __libc_free(block); }' >"$T/release.c"
	gcc -o "$T/main" "$T/main.c" -ldl
	gcc -shared -fPIC -o "$T/release.so" "$T/release.c"
	checked light "$T/release.so"
	json_is '[3,1,2]' '.tree | [.processes, .looked_at, .missed]' <"$T/c.json"
}

@test "without dlsym: noticed when the next library comes, or when a program with one thread ends" {
	built
	within "$PMM" run -o "$T/c.pmm" -- "$T/main" "$T/self.so" >"$T/out" 2>"$T/err" 3>&-
	grep -q "^pmm: WARNING: self.so, loaded later, $SAID$" "$T/err"
	checked guard "$T/self.so"
	grep -q "main (self.so, loaded later, calls __libc_[a-z]*() of glibc, its allocator's own function: what it allocates so was not checked" "$T/line"
	mv "$T/takes.so" "$T/self2.so"
	checked guard "$T/self.so" "$T/self2.so"
	grep -q "main (checking ended when self.so was loaded" "$T/line"
}

@test "with threads: the library whose handle dlsym is given; in a child that is forked before dlsym, too" {
	built
	cat >"$T/main.c" <<-'EOF'
		#include <dlfcn.h>
		#include <pthread.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static void *nothing(void *arg) { return arg; }
		int main(int argc, char **argv)
		{
			pthread_t thread;
			int status = 0;
			void *lib, (*late)(void);
			for (const char *how = argv[2]; *how; how++)
				if (*how == 't' && !pthread_create(&thread, NULL, nothing, NULL))
					pthread_join(thread, NULL);
			lib = dlopen(argv[1], RTLD_NOW);
			if (strchr(argv[2], 'f') && fork())
				return wait(&status) < 0 || status;
			late = lib ? (void *(*)(void))dlsym(lib, "late") : NULL;
			if (!late)
				return 2;
			late();
			return 0;
		}
	EOF
	gcc -w -o "$T/main" "$T/main.c" -ldl
	for how in t f tf; do
		checked guard "$T/takes.so" $how
		grep -q "checking ended when takes.so was loaded, which calls" "$T/line"
	done
}

@test "no lock of the loader's is waited for" {
	built
	cat >"$T/main.c" <<-'EOF'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <link.h>
		#include <pthread.h>
		static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
		static volatile int walks;
		static int look(struct dl_phdr_info *info, size_t bytes, void *arg)
		{
			walks = 1;
			pthread_mutex_lock(&mutex);
			pthread_mutex_unlock(&mutex);
			return 1;
		}
		static void *walk(void *arg)
		{
			dl_iterate_phdr(look, NULL);
			return arg;
		}
		int main(int argc, char **argv)
		{
			pthread_t thread;
			void *lib = dlopen(argv[1], RTLD_NOW), *late;
			pthread_mutex_lock(&mutex);
			pthread_create(&thread, NULL, walk, NULL);
			while (!walks)
				;
			late = dlsym(lib, "late");
			pthread_mutex_unlock(&mutex);
			pthread_join(thread, NULL);
			return !late;
		}
	EOF
	gcc -o "$T/main" "$T/main.c" -ldl
	within "$PMM" run -q -o "$T/c.pmm" -- "$T/main" "$T/plain.so"
	within "$PMM" check -- "$T/main" "$T/plain.so" 2>"$T/err" 3>&-
	tr -s '\n ' '  ' <"$T/err" | grep -q "no heap errors"
}

@test "an allocator of the start, opened again, is none that comes later" {
	library libjemalloc.so.2
	cat >"$T/main.c" <<-'EOF'
		#include <dlfcn.h>
		#include <pthread.h>
		#include <stdlib.h>
		static void *nothing(void *arg) { return arg; }
		int main(int argc, char **argv)
		{
			void *lib = dlopen(argv[1], RTLD_NOW);
			pthread_t thread;
			pthread_create(&thread, NULL, nothing, NULL);
			pthread_join(thread, NULL);
			free(malloc(100));
			return !lib || !dlsym(lib, "mallocx");
		}
	EOF
	gcc -o "$T/main" "$T/main.c" -ldl
	LD_PRELOAD=$LIBRARY within "$PMM" run -o "$T/c.pmm" -- "$T/main" "$LIBRARY" >"$T/out" 2>"$T/err" 3>&-
	run ! grep WARNING "$T/err"
}
