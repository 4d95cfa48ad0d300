/* SPDX-License-Identifier: GPL-2.0-or-later
 * Has 64 MiB resident for a moment and ends at once. Prints VmHWM of its /proc/self/status last, in KiB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(void)
{
	size_t bytes = 64 << 20;
	char line[256];
	FILE *f;
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(p, 1, bytes);
	munmap(p, bytes);
	f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmHWM:", 6))
			printf("%d\n", atoi(line + 6));
	return 0;
}
