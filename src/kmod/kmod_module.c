/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel module found, loaded and unloaded. */
#include "src/kmod/kmod_module.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/vec.h"
#include "src/kmod/kmod_device.h"
#include "src/proc/descendants.h"
#include "src/proc/proc.h"

#define FILE_NAME	KMOD_MODULE_NAME ".ko"
#define MOST_NAMED	8

static int kernel_load(int fd, const char *parameters)
{
	return syscall(SYS_finit_module, fd, parameters, 0) ? -errno : 0;
}

static int kernel_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

const struct kmod_module_ops kmod_module_kernel = { kernel_load, kernel_unload };

/* ---- the file ---- */

int kmod_module_find(const char *modules, const char *release, const char *const *beside,
		     char path[PATH_MAX], struct err *e)
{
	static const char *const place[] = { "updates/dkms", "extra", "updates" };

	for (size_t i = 0; i < sizeof(place) / sizeof(*place); i++) {
		int n = snprintf(path, PATH_MAX, "%s/%s/%s/" FILE_NAME, modules, release, place[i]);

		if (n < PATH_MAX && !access(path, R_OK))
			return 0;
	}
	for (size_t i = 0; beside[i]; i++)
		if (snprintf(path, PATH_MAX, "%s/" FILE_NAME, beside[i]) < PATH_MAX &&
		    !access(path, R_OK))
			return 0;
	err_set(e, -ENOENT, "there is no " FILE_NAME " for this kernel: not below '%s/%s', nor in "
			    "'%s'", modules, release, beside[0]);
	err_hint(e, "'make -C kmod' in pmm's source builds one, with the headers of Linux %s; "
		    "'make -C kmod install' or dkms puts it there", release);
	return -ENOENT;
}

int kmod_module_parameters(char *const *words, int nr, struct str *out, struct err *e)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

	for (int i = 0; i < nr; i++) {
		size_t name = strspn(words[i], letters);

		if (!name || words[i][name] != '=' || strpbrk(words[i], " \t\n\"")) {
			err_set(e, -EINVAL, "'%s' is no parameter of the kernel module", words[i]);
			err_hint(e, "NAME=VALUE; 'modinfo pmm' lists the names");
			return -EINVAL;
		}
		str_add(out, i ? " " : "");
		str_add(out, words[i]);
	}
	return str_error(out);
}

/* ---- whose file it is ---- */

/* Root's or the caller's, which may load modules and so is as good; nobody else may write it. */
static bool is_ours(const struct stat *st)
{
	bool group = st->st_mode & S_IWGRP && st->st_gid;

	return (!st->st_uid || st->st_uid == geteuid()) && !group && !(st->st_mode & S_IWOTH);
}

static int not_ours(const char *path, const char *what, struct err *e)
{
	err_set(e, -EPERM, "'%s' is not loaded into the kernel: others than root may write '%s'",
		path, what);
	err_hint(e, "make sure that it is the file you want, then 'chown root:root' and 'chmod "
		    "go-w' what is named; or install one that only root can change");
	return -EPERM;
}

/* The folder of `of` and all above it. With the sticky bit others may add, but not replace. */
static int check_folders(const char *path, const char *of, struct err *e)
{
	char folder[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%s", of);
	do {
		dirname(folder);
		if (stat(folder, &st))
			return err_set(e, -errno, "cannot look at '%s': %s", folder,
				       strerror(errno));
		if (!is_ours(&st) && !(!st.st_uid && st.st_mode & S_ISVTX))
			return not_ours(path, folder, e);
	} while (folder[1]);
	return 0;
}

/* The file that is open, and the folders by which it was found: as named, and behind links. */
static int check_file(int fd, const char *path, struct err *e)
{
	char link[64], *folder, *real, named[PATH_MAX];
	struct stat st;
	int rc;

	if (fstat(fd, &st))
		return err_set(e, -errno, "cannot look at '%s': %s", path, strerror(errno));
	if (!is_ours(&st))
		return not_ours(path, path, e);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	snprintf(named, sizeof(named), "%s", path);
	real = realpath(link, NULL);
	folder = realpath(dirname(named), NULL);
	rc = real && folder ? check_folders(path, real, e) :
			      err_set(e, -errno, "cannot find the folder of '%s': %s", path,
				      strerror(errno));
	if (!rc) {
		snprintf(named, sizeof(named), "%s/-", folder);
		rc = check_folders(path, named, e);
	}
	free(folder);
	free(real);
	return rc;
}

/* ---- load ---- */

static int load_failed(int rc, const char *path, const char *parameters, struct err *e)
{
	switch (rc) {
	case -EPERM:
		err_set(e, rc, "the kernel module may not be loaded: that takes CAP_SYS_MODULE, or "
			       "the kernel takes no more modules");
		err_hint(e, "run as root, outside of containers; /proc/sys/kernel/modules_disabled "
			    "is 1 where modules are barred until the next boot");
		break;
	case -ENOEXEC:
		err_set(e, rc, "'%s' is for another kernel than the one that runs", path);
		err_hint(e, "build it with this kernel's headers (make -C kmod); the kernel's log "
			    "has the reason: dmesg | tail");
		break;
	case -EKEYREJECTED:
	case -ENOKEY:
		err_set(e, rc, "the kernel takes signed modules only (lockdown, or "
			       "module.sig_enforce), and '%s' has no signature that it trusts",
			path);
		err_hint(e, "sign it with a key that is enrolled (kmodsign, mokutil; dkms does it "
			    "by itself), or boot without Secure Boot");
		break;
	case -ENOSYS:
		err_set(e, rc, "this kernel takes no modules");
		err_hint(e, "it was built without CONFIG_MODULES, or the container's filter of "
			    "system calls hides them");
		break;
	case -EEXIST:
		err_set(e, rc, "the kernel module pmm is loaded already");
		err_hint(e, "'pmm kmod unload' first, if other parameters are wanted");
		break;
	case -EINVAL:
	case -ERANGE:
		err_set(e, rc, "the kernel refuses '%s'%s%s", path,
			*parameters ? " with " : "", parameters);
		err_hint(e, "'modinfo pmm' lists parameters and their ranges; the kernel's log has "
			    "the reason: dmesg | tail");
		break;
	default:
		err_set(e, rc, "cannot load '%s': %s", path, strerror(-rc));
		err_hint(e, "the kernel's log may have the reason: dmesg | tail");
	}
	return rc;
}

int kmod_module_load(const struct kmod_module_ops *ops, const char *path, const char *parameters,
		     struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return err_set(e, -errno, "cannot open '%s': %s", path, strerror(errno));
	rc = check_file(fd, path, e);
	if (!rc) {
		rc = ops->load(fd, parameters);
		if (rc < 0)
			load_failed(rc, path, parameters, e);
	}
	close(fd);
	return rc < 0 ? rc : 0;
}

/* ---- unload ---- */

static bool has_open(pid_t pid, const char *device)
{
	char path[64], to[PATH_MAX];
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	for (struct dirent *d = NULL; dir && !found && (d = readdir(dir));) {
		ssize_t n = readlinkat(dirfd(dir), d->d_name, to, sizeof(to) - 1);

		to[n > 0 ? n : 0] = '\0';
		found = n > 0 && !strcmp(to, device);
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool has_mapped(pid_t pid, const char *device)
{
	struct proc_maps maps = { 0 };
	struct err ignored;
	bool found = false;

	if (!proc_maps_read(pid, &maps, &ignored))
		for (size_t i = 0; i < maps.nr && !found; i++)
			found = !strcmp(maps.v[i].path, device);
	proc_maps_fini(&maps);
	return found;
}

int kmod_module_users(const char *device, unsigned most, struct str *out)
{
	struct pid_list all = { 0 };
	unsigned nr = 0;
	int rc = pid_list_all(&all);

	for (size_t i = 0; !rc && i < all.pids.nr; i++) {
		pid_t pid = all.pids.v[i];
		char comm[PROC_COMM_BYTES];

		if ((!has_open(pid, device) && !has_mapped(pid, device)) || proc_comm(pid, comm))
			continue;
		if (nr < most)
			str_addf(out, "%s%s (%d)", nr ? ", " : "", comm, (int)pid);
		nr++;
	}
	if (nr > most)
		str_addf(out, " and %u more", nr - most);
	vec_fini(&all.pids);
	return rc ? rc : (int)nr;
}

static int unload_failed(int rc, struct err *e)
{
	struct str users = STR_INIT;

	switch (rc) {
	case -EPERM:
		err_set(e, rc, "the kernel module may not be unloaded: that takes CAP_SYS_MODULE");
		err_hint(e, "run as root, outside of containers");
		break;
	case -ENOENT:
	case -ENOSYS:		/* of kernels that take none */
		err_set(e, rc, "the kernel module pmm is not loaded");
		break;
	case -EAGAIN:
	case -EBUSY:
		if (kmod_module_users(KMOD_DEVICE_PATH, MOST_NAMED, &users) > 0) {
			err_set(e, rc, "the kernel module is in use by %s", str_text(&users));
			err_hint(e, "end these first; the log of what they have logged goes with "
				    "the module");
		} else {
			err_set(e, rc, "the kernel module is in use");
			err_hint(e, "by a process that cannot be seen from here: look as root, and "
				    "outside of containers");
		}
		break;
	default:
		err_set(e, rc, "cannot unload the kernel module: %s", strerror(-rc));
	}
	str_fini(&users);
	return rc;
}

int kmod_module_unload(const struct kmod_module_ops *ops, struct err *e)
{
	int rc = ops->unload(KMOD_MODULE_NAME);

	return rc < 0 ? unload_failed(rc, e) : 0;
}
