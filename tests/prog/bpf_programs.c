/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bpf_programs: how many BPF programs, maps and links there are in the kernel, one number; root. */
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned count(int command)
{
	union bpf_attr attr;
	unsigned nr = 0, id = 0;

	for (;;) {
		memset(&attr, 0, sizeof(attr));
		attr.start_id = id;
		if (syscall(SYS_bpf, command, &attr, sizeof(attr)))
			return nr;
		id = attr.next_id;
		nr++;
	}
}

int main(void)
{
	printf("%u\n", count(BPF_PROG_GET_NEXT_ID) + count(BPF_MAP_GET_NEXT_ID) +
			       count(BPF_LINK_GET_NEXT_ID));
	return 0;
}
