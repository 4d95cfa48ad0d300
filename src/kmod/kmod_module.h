/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel module as a file and as a part of the kernel: found, loaded, unloaded, by the system
 * calls and without other programs.
 */
#ifndef KMOD_KMOD_MODULE_H
#define KMOD_KMOD_MODULE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"
#include "src/base/str.h"

#define KMOD_MODULE_NAME	"pmm"

/* The kernel's calls; 0 or -errno. */
struct kmod_module_ops {
	int (*load)(int fd, const char *parameters);
	int (*unload)(const char *name);
};

extern const struct kmod_module_ops kmod_module_kernel;

/*
 * A readable pmm.ko for the kernel `release`: of what dkms and make install put below `modules`
 * (/lib/modules), then in the directories `beside`, which end with NULL; the first of them is named
 * where there is none. 0; -ENOENT with `e`.
 */
int kmod_module_find(const char *modules, const char *release, const char *const *beside,
		     char path[PATH_MAX], struct err *e);

/* Parameters as the kernel takes them, from `nr` words NAME=VALUE. 0, -EINVAL with `e`, -ENOMEM. */
int kmod_module_parameters(char *const *words, int nr, struct str *out, struct err *e);

/*
 * Load it. 0 or -errno with `e`; -EEXIST: it is loaded already; -EPERM: no right, or the file or a
 * folder above it may be written by others than root (or this process's user).
 */
int kmod_module_load(const struct kmod_module_ops *ops, const char *path, const char *parameters,
		     struct err *e);

/* Unload it. 0 or -errno with `e`: -ENOENT it is not loaded, -EAGAIN it is in use. */
int kmod_module_unload(const struct kmod_module_ops *ops, struct err *e);

/*
 * Append who has the device open or mapped, as far as it can be seen: "cat (4711), pmmd (12)"; at
 * most `most` of them are named. How many there are, or -errno.
 */
int kmod_module_users(const char *device, unsigned most, struct str *out);

#endif
