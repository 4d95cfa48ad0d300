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

static void loading_hands_over_file_and_parameters(void **state)
{
	(void)state;
	answer = 0;
	assert_int_equal(kmod_module_load(&fake, "/dev/null", "a=1", &e), 0);
	assert_string_equal(parameters, "a=1");
	assert_int_equal(kmod_module_load(&fake, "/nowhere/pmm.ko", "", &e), -ENOENT);
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
		{ -EINVAL, "refuses '/dev/null' with a=1", "modinfo pmm" },
		{ -ENOMEM, "cannot load '/dev/null': Cannot allocate memory", "dmesg" },
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
		assert_int_equal(kmod_module_load(&fake, "/dev/null", "a=1", &e), load[i].rc);
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
		cmocka_unit_test(each_failure_has_its_remedy),
		cmocka_unit_test(the_file_for_this_kernel_is_found),
		cmocka_unit_test(who_has_the_device_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
