/*
 * What a seccomp filter says about a system call of which only the number is known, and perhaps the first argument.
 */
#ifndef TARGET_BPF_H
#define TARGET_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/filter.h>

struct bpf_call {
	uint32_t nr;
	bool first_known;
	uint64_t first;		/* argument */
};

/*
 * Run a filter of `nr` instructions for a 64-bit system call. 0 with what it returns (SECCOMP_RET_…) in `verdict`; -ENODATA when it looks
 * at an argument of the call that is not known or at where it is made from on the way; -EINVAL when it is no filter that the kernel would take. Ends for any program.
 */
int bpf_run(const struct sock_filter *v, size_t nr, const struct bpf_call *call, uint32_t *verdict);

#endif
