/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words that may be programs. */
#include "src/cmd/options/program.h"

#include <string.h>
#include <sys/stat.h>

bool program_meant(const char *word)
{
	struct stat st;

	if (*word == '-' || !word[strspn(word, "0123456789")])
		return false;
	return stat(word, &st) || (S_ISREG(st.st_mode) && st.st_mode & 0111);
}
