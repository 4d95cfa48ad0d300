/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bpf_source in a build without clang or libbpf. */
#include <errno.h>

#include "src/kernel/kernel_source.h"

static int none_open(const struct kernel_options *o, void **state, struct err *e)
{
	(void)o;
	(void)state;
	err_set(e, -ENOTSUP, "pmm was built without eBPF");
	err_hint(e, "install clang and libbpf-dev, then build pmm again");
	return -ENOTSUP;
}

const struct kernel_source_ops bpf_source = {
	.name = "bpf",
	.open = none_open,
};
