/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seeds of fuzz_elf: a small program with debug information, as it is and compressed, by the
 * compiler that is there.
 */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	static const char *const forms[] = { "-gz=none", "-gz=zlib", "-gdwarf-4 -gz=none", "-g0" };

	for (unsigned i = 0; argc == 2 && i < sizeof(forms) / sizeof(*forms); i++) {
		char command[512];

		snprintf(command, sizeof(command),
			 "printf 'static inline int f(int x) { return x * 3; }\\nint g(int y) { "
			 "return f(y) + f(y + 1); }\\n' | "
			 "cc -g -O2 %s -shared -nostdlib -x c - -o '%s/seed%u' 2>/dev/null",
			 forms[i], argv[1], i);
		if (system(command) && !i)
			return 1;
	}
	return argc != 2;
}
