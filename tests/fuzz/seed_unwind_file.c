/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seeds of fuzz_unwind_file: small libraries with and without a header of unwind information. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	static const char *const forms[] = { "", "-Wl,--no-eh-frame-hdr", "-fno-pic -no-pie -e g" };

	for (unsigned i = 0; argc == 2 && i < sizeof(forms) / sizeof(*forms); i++) {
		char command[512];

		snprintf(command, sizeof(command),
			 "printf 'int f(int); int g(int y) { return f(y) + f(y + 1); }\\n"
			 "__attribute__((noinline)) int f(int x) { return x * 3; }\\n' | "
			 "cc -g0 -s -O2 %s %s -nostdlib -x c - -o '%s/seed%u' 2>/dev/null",
			 i == 2 ? "" : "-shared", forms[i], argv[1], i);
		if (system(command) && !i)
			return 1;
	}
	return argc != 2;
}
