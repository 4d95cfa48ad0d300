/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel module found, loaded and unloaded, by a kernel that is none. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/tmpdir.h"
#include "src/kmod/kmod_module.h"

static int answer;
static char parameters[100];
static struct err e;

static int fake_load(int fd, const char *p)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	snprintf(parameters, sizeof(parameters), "%s", p);
	return answer;
}

static int fake_unload(const char *name)
{
	assert_string_equal(name, "pmm");
	return answer;
}

static const struct kmod_module_ops fake = { fake_load, fake_unload };

static void parameters_are_name_and_value(void **state)
{
	char *good[] = { "interval_ms=500", "window=8" };
	char *bad[] = { "interval", "=5", "a=1 b=2", "A=1", "x=\"", "" };
	struct str s = STR_INIT;

	(void)state;
	assert_int_equal(kmod_module_parameters(good, 2, &s, &e), 0);
	assert_string_equal(str_text(&s), "interval_ms=500 window=8");
	str_clear(&s);
	assert_int_equal(kmod_module_parameters(good, 0, &s, &e), 0);
	assert_string_equal(str_text(&s), "");
	for (size_t i = 0; i < NR(bad); i++)
		assert_int_equal(kmod_module_parameters(&bad[i], 1, &s, &e), -EINVAL);
	str_fini(&s);
}

static void put_file(const char *dir, const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
}

/* What is loaded: a file that only this user may write. */
static char *folder, the_file[PATH_MAX];

static int make_file(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(tmpdir_make("kmod", &folder, &e), 0);
	snprintf(the_file, sizeof(the_file), "%s/pmm.ko", folder);
	fd = open(the_file, O_CREAT | O_WRONLY, 0600);
	close(fd);
	return fd < 0;
}

static int remove_file(void **state)
{
	(void)state;
	unlink(the_file);
	rmdir(folder);
	free(folder);
	return 0;
}

static void loading_hands_over_file_and_parameters(void **state)
{
	(void)state;
	answer = 0;
	assert_int_equal(kmod_module_load(&fake, the_file, "a=1", &e), 0);
	assert_string_equal(parameters, "a=1");
	assert_int_equal(kmod_module_load(&fake, "/nowhere/pmm.ko", "", &e), -ENOENT);
}

/* Refused, with what is named; the kernel is not asked. */
static void refused(const char *path, const char *what)
{
	char want[2 * PATH_MAX + 100];

	e = (struct err){ 0 };
	parameters[0] = '\0';
	assert_int_equal(kmod_module_load(&fake, path, "a=1", &e), -EPERM);
	snprintf(want, sizeof(want),
		 "'%s' is not loaded into the kernel: others than root may write '%s'", path, what);
	assert_string_equal(e.text, want);
	assert_non_null(strstr(e.hint, "chmod go-w"));
	assert_string_equal(parameters, "");
}

static void what_others_may_write_is_not_loaded(void **state)
{
	char link[PATH_MAX + 8], below[PATH_MAX + 8], file[PATH_MAX + 8];

	(void)state;
	answer = 0;
	chmod(the_file, 0602);
	refused(the_file, the_file);
	chmod(the_file, 0620);
	if (!getegid())
		assert_int_equal(kmod_module_load(&fake, the_file, "", &e), 0);
	else
		refused(the_file, the_file);
	chmod(the_file, 0600);
	chmod(folder, 0707);
	refused(the_file, folder);
	/* a folder above, that of a link, and that of what it is a link to */
	snprintf(below, sizeof(below), "%s/below", folder);
	snprintf(link, sizeof(link), "%s/below/l", folder);
	mkdir(below, 0700);
	put_file(below, "f");
	snprintf(file, sizeof(file), "%s/below/f", folder);
	refused(file, folder);
	chmod(folder, 0700);
	assert_int_equal(kmod_module_load(&fake, file, "", &e), 0);
	assert_int_equal(symlink(the_file, link), 0);
	assert_int_equal(kmod_module_load(&fake, link, "", &e), 0);
	chmod(below, 0702);
	refused(link, below);
	unlink(link);
	snprintf(link, sizeof(link), "%s/l", folder);
	assert_int_equal(symlink(file, link), 0);
	refused(link, below);
	unlink(link);
	unlink(file);
	rmdir(below);
	assert_int_equal(kmod_module_load(&fake, the_file, "", &e), 0);
	if (geteuid())
		return;
	/* those of another user, whatever their bits are */
	assert_int_equal(chown(the_file, 1000, 0), 0);
	refused(the_file, the_file);
	assert_int_equal(chown(the_file, 0, 1000), 0);
	assert_int_equal(kmod_module_load(&fake, the_file, "", &e), 0);
	chmod(the_file, 0620);
	refused(the_file, the_file);
	chmod(the_file, 0600);
	assert_int_equal(chown(folder, 1000, 0), 0);
	refused(the_file, folder);
	/* the sticky bit is no help where the folder is another user's */
	chmod(folder, 01777);
	refused(the_file, folder);
	assert_int_equal(chown(folder, 0, 0), 0);
	assert_int_equal(kmod_module_load(&fake, the_file, "", &e), 0);
}

static void each_failure_has_its_remedy(void **state)
{
	static const struct {
		int rc;
		const char *text, *hint;
	} load[] = {
		{ -EPERM, "may not be loaded", "run as root" },
		{ -ENOEXEC, "another kernel", "make -C kmod" },
		{ -EKEYREJECTED, "signed modules only", "kmodsign" },
		{ -ENOKEY, "signed modules only", "kmodsign" },
		{ -ENOSYS, "takes no modules", "CONFIG_MODULES" },
		{ -EEXIST, "loaded already", "pmm kmod unload" },
		{ -EINVAL, "/pmm.ko' with a=1", "modinfo pmm" },
		{ -ENOMEM, "/pmm.ko': Cannot allocate memory", "dmesg" },
	}, unload[] = {
		{ -EPERM, "may not be unloaded", "run as root" },
		{ -ENOENT, "is not loaded", "" },
		{ -ENOSYS, "is not loaded", "" },
		{ -EAGAIN, "is in use", "cannot be seen" },
		{ -EIO, "cannot unload the kernel module: Input/output error", "" },
	};

	(void)state;
	for (size_t i = 0; i < NR(load); i++) {
		e = (struct err){ 0 };
		answer = load[i].rc;
		assert_int_equal(kmod_module_load(&fake, the_file, "a=1", &e), load[i].rc);
		assert_non_null(strstr(e.text, load[i].text));
		assert_non_null(strstr(e.hint, load[i].hint));
	}
	for (size_t i = 0; i < NR(unload); i++) {
		e = (struct err){ 0 };
		answer = unload[i].rc;
		assert_int_equal(kmod_module_unload(&fake, &e), unload[i].rc);
		assert_non_null(strstr(e.text, unload[i].text));
		assert_non_null(strstr(e.hint, unload[i].hint));
	}
	answer = 0;
	assert_int_equal(kmod_module_unload(&fake, &e), 0);
}

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *at)
{
	(void)st;
	(void)what;
	(void)at;
	return remove(path);
}

static void remove_tree(char *dir)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(dir);
}

static void the_file_for_this_kernel_is_found(void **state)
{
	char *dir, modules[PATH_MAX], beside[PATH_MAX], path[PATH_MAX],
		want[PATH_MAX + 100];
	const char *const places[] = { beside, "/nowhere", NULL };

	(void)state;
	assert_int_equal(tmpdir_make("kmod", &dir, &e), 0);
	snprintf(modules, sizeof(modules), "%s/modules", dir);
	snprintf(beside, sizeof(beside), "%s/share", dir);
	assert_int_equal(kmod_module_find(modules, "6.1", places, path, &e), -ENOENT);
	assert_non_null(strstr(e.hint, "make -C kmod"));
	put_file(modules, "5.10/extra/pmm.ko");
	assert_int_equal(kmod_module_find(modules, "6.1", places, path, &e), -ENOENT);
	put_file(beside, "pmm.ko");
	assert_int_equal(kmod_module_find(modules, "6.1", places, path, &e), 0);
	snprintf(want, sizeof(want), "%s/pmm.ko", beside);
	assert_string_equal(path, want);
	put_file(modules, "6.1/extra/pmm.ko");
	assert_int_equal(kmod_module_find(modules, "6.1", places, path, &e), 0);
	snprintf(want, sizeof(want), "%s/6.1/extra/pmm.ko", modules);
	assert_string_equal(path, want);
	put_file(modules, "6.1/updates/dkms/pmm.ko");
	assert_int_equal(kmod_module_find(modules, "6.1", places, path, &e), 0);
	snprintf(want, sizeof(want), "%s/6.1/updates/dkms/pmm.ko", modules);
	assert_string_equal(path, want);
	remove_tree(dir);
}

/* Any file will do for a device: here a file that only this process has. */
static void who_has_the_device_is_named(void **state)
{
	char *dir, path[PATH_MAX];
	struct str s = STR_INIT;
	char want[64];
	void *p;
	int fd;

	(void)state;
	assert_int_equal(tmpdir_make("kmod", &dir, &e), 0);
	put_file(dir, "device");
	snprintf(path, sizeof(path), "%s/device", dir);
	assert_int_equal(kmod_module_users(path, 8, &s), 0);
	assert_string_equal(str_text(&s), "");
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(kmod_module_users(path, 8, &s), 1);
	snprintf(want, sizeof(want), "test_kmod_modul (%d)", (int)getpid());
	assert_string_equal(str_text(&s), want);
	assert_int_equal(ftruncate(fd, 4096), 0);
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	str_clear(&s);
	assert_int_equal(kmod_module_users(path, 0, &s), 1);	/* mapped is as good as open */
	assert_string_equal(str_text(&s), " and 1 more");
	munmap(p, 4096);
	str_fini(&s);
	remove_tree(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_are_name_and_value),
		cmocka_unit_test(loading_hands_over_file_and_parameters),
		cmocka_unit_test(what_others_may_write_is_not_loaded),
		cmocka_unit_test(each_failure_has_its_remedy),
		cmocka_unit_test(the_file_for_this_kernel_is_found),
		cmocka_unit_test(who_has_the_device_is_named),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
