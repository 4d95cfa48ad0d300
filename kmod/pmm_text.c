// SPDX-License-Identifier: GPL-2.0-or-later
/* How texts of the outside, times and states are shown (pmm_text.h). */
#include "pmm_text.h"

#define NS_PER_S	1000000000ll

static const char digits[] = "0123456789abcdef";

char *pmm_text_escape(char *to, size_t bytes, const char *text, bool blanks)
{
	size_t at = 0;
	u8 c;

	for (; *text; text++) {
		c = (u8)*text;
		if ((c > ' ' && c < 0x7f && c != '\\') || (blanks && c == ' ')) {
			if (at + 1 >= bytes)
				break;
			to[at++] = *text;
			continue;
		}
		if (at + 4 >= bytes)
			break;
		to[at++] = '\\';
		to[at++] = 'x';
		to[at++] = digits[c >> 4];
		to[at++] = digits[c & 15];
	}
	to[at] = 0;
	return to;
}

char *pmm_text_time(char *to, u64 time_ns)
{
	u64 s = (u64)div64_s64((s64)(time_ns >> 1), NS_PER_S / 2);
	u32 of_day = (u32)(s - (u64)div64_s64((s64)s, 86400) * 86400);
	u32 part[3];
	u32 i;

	part[0] = of_day / 3600;
	part[1] = of_day / 60 % 60;
	part[2] = of_day % 60;
	for (i = 0; i < 3; i++) {
		to[i * 3] = (char)('0' + part[i] / 10);
		to[i * 3 + 1] = (char)('0' + part[i] % 10);
		to[i * 3 + 2] = i < 2 ? ':' : 0;
	}
	return to;
}

const char *pmm_text_kind(u32 kind)
{
	static const char *const names[PMM_KMOD_NR_KINDS] = {
		[PMM_KMOD_MALLOC] = "MALLOC",
		[PMM_KMOD_CALLOC] = "CALLOC",
		[PMM_KMOD_REALLOC] = "REALLOC",
		[PMM_KMOD_FREE] = "FREE",
		[PMM_KMOD_ALIGNED] = "ALIGNED",
		[PMM_KMOD_MMAP] = "MMAP",
		[PMM_KMOD_MUNMAP] = "MUNMAP",
	};

	return kind < PMM_KMOD_NR_KINDS && names[kind] ? names[kind] : "?";
}

const char *pmm_text_state(u32 state)
{
	static const char *const names[] = {
		[PMM_KMOD_RUNNING] = "running",
		[PMM_KMOD_ZOMBIE] = "zombie",
		[PMM_KMOD_EXITED] = "exited",
		[PMM_KMOD_KILLED] = "killed",
	};

	return state < ARRAY_SIZE(names) && names[state] ? names[state] : "?";
}
