/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seeds of fuzz_user_stack: words that are places of code and of the stack, at random. */
#include <stdint.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	uint64_t random = 1;

	for (unsigned i = 0; argc == 2 && i < 16; i++) {
		char path[512];
		FILE *f;

		snprintf(path, sizeof(path), "%s/seed%u", argv[1], i);
		f = fopen(path, "w");
		if (!f)
			return 1;
		fprintf(f, "%c%c%c%c", i, i, 0, 0);
		for (unsigned k = 0; k < 200; k++) {
			uint64_t code, stack, word;

			random = random * 6364136223846793005ull + 1442695040888963407ull;
			code = 0xc0ull << 56 | random >> 32;
			stack = 0xd0ull << 56 | (random >> 33) % 1024 * 8;
			word = (k < 8 ? k > 0 : random >> 63) ? stack : code;
			fwrite(&word, sizeof(word), 1, f);
		}
		fclose(f);
	}
	return argc != 2;
}
