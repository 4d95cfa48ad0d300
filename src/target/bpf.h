/*
 * What a seccomp filter says about a system call of which only the number is known.
 */
#ifndef TARGET_BPF_H
#define TARGET_BPF_H

#include <stddef.h>
#include <stdint.h>

#include <linux/filter.h>

/*
 * Run a filter of `nr` instructions for a 64-bit system call. 0 with what it returns (SECCOMP_RET_…) in `verdict`; -ENODATA when it looks
 * at the call's arguments or at where it is made from on the way; -EINVAL when it is no filter that the kernel would take. Ends for any program.
 */
int bpf_run(const struct sock_filter *v, size_t nr, uint32_t syscall_nr, uint32_t *verdict);

#endif
