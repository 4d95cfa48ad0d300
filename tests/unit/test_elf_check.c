/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every kind of executable that pmm must tell apart, made on the spot.
 */
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#include "src/proc/elf_check.h"

#define LOADER "/lib64/ld-linux-x86-64.so.2"

static char dir[64];

static const char *in_dir(const char *name)
{
	static char path[4][128];
	static unsigned turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[0]), "%s/%s", dir, name);
	return path[turn];
}

static const char *make_file(const char *name, const void *bytes, size_t n, mode_t mode)
{
	const char *path = in_dir(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	return path;
}

static const char *make_script(const char *name, const char *text)
{
	return make_file(name, text, strlen(text), 0755);
}

struct elf_file {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[2];
	Elf64_Dyn dyn[2];
	char interp[64];
};

static struct elf_file elf_file(uint16_t type, const char *interp, bool pie)
{
	struct elf_file f = { 0 };

	memcpy(f.eh.e_ident, ELFMAG, SELFMAG);
	f.eh.e_ident[EI_CLASS] = ELFCLASS64;
	f.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	f.eh.e_type = type;
	f.eh.e_machine = EM_X86_64;
	f.eh.e_phoff = offsetof(struct elf_file, ph);
	f.eh.e_phentsize = sizeof(f.ph[0]);
	f.eh.e_phnum = 2;
	f.ph[0].p_type = PT_DYNAMIC;
	f.ph[0].p_offset = offsetof(struct elf_file, dyn);
	f.ph[0].p_filesz = sizeof(f.dyn);
	f.dyn[0].d_tag = DT_FLAGS_1;
	f.dyn[0].d_un.d_val = pie ? DF_1_PIE : 0;
	f.ph[1].p_type = interp ? PT_INTERP : PT_NULL;
	f.ph[1].p_offset = offsetof(struct elf_file, interp);
	f.ph[1].p_filesz = interp ? strlen(interp) + 1 : 0;
	strcpy(f.interp, interp ? interp : "");
	return f;
}

static void expect(const char *name, enum elf_check_kind kind, const char *text)
{
	struct elf_check c;
	struct err e = { 0 };

	assert_int_equal(elf_check(name, &c, &e), kind);
	assert_int_equal(c.kind, kind);
	if (kind == ELF_CHECK_OK) {
		assert_string_equal(e.text, "");
		return;
	}
	if (!strstr(e.text, text))
		fail_msg("'%s' does not hold '%s'", e.text, text);
	assert_string_not_equal(e.hint, "");
}

static void expect_elf(struct elf_file f, enum elf_check_kind kind, const char *text)
{
	expect(make_file("program", &f, sizeof(f), 0755), kind, text);
}

/* Its flags are the n-th entry, and the file ends after them. */
static void expect_flags_at(unsigned n, enum elf_check_kind kind, const char *text)
{
	static struct {
		struct elf_file f;
		Elf64_Dyn dyn[200];
	} long_one;

	long_one.f = elf_file(ET_DYN, NULL, true);
	long_one.f.ph[0].p_offset = sizeof(long_one.f);
	long_one.f.ph[0].p_filesz = sizeof(long_one.dyn);
	for (unsigned i = 0; i < 200; i++)
		long_one.dyn[i].d_tag = DT_DEBUG;
	long_one.dyn[n] = long_one.f.dyn[0];
	expect(make_file("long", &long_one, sizeof(long_one.f) + (n + 1) * sizeof(Elf64_Dyn), 0755),
	       kind, text);
}

/* It is read in parts. */
static void flags_are_found_anywhere_in_a_long_dynamic_section(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 200; n++)
		expect_flags_at(n, ELF_CHECK_STATIC_PIE, "(static-pie)");
}

static void dynamic_programs_are_fine(void **state)
{
	struct elf_check c;

	(void)state;
	expect_elf(elf_file(ET_DYN, LOADER, true), ELF_CHECK_OK, "");
	expect_elf(elf_file(ET_EXEC, LOADER, false), ELF_CHECK_OK, "");
	assert_int_equal(elf_check("/bin/cat", &c, NULL), ELF_CHECK_OK);
	assert_string_equal(c.program, "/bin/cat");
	assert_false(c.script);
}

static void static_programs_are_told_apart(void **state)
{
	struct elf_file loader = elf_file(ET_DYN, NULL, false);

	(void)state;
	expect_elf(elf_file(ET_EXEC, NULL, false), ELF_CHECK_STATIC,
		   "is statically linked: preload cannot work");
	expect_elf(elf_file(ET_DYN, NULL, true), ELF_CHECK_STATIC_PIE, "(static-pie)");
	expect(make_file("ld-x.so.1", &loader, sizeof(loader), 0755), ELF_CHECK_OK, "");
}

/*
 * What says nothing of the kind is no program: a file with as many entries as it says, and none
 * that ends them.
 */
static void without_the_flag_it_is_a_loader(void **state)
{
	struct elf_file f = elf_file(ET_DYN, NULL, true);

	(void)state;
	f.dyn[0].d_tag = DT_DEBUG;
	f.dyn[1].d_tag = DT_SYMTAB;
	expect(make_file("ld.so.2", &f, sizeof(f), 0755), ELF_CHECK_OK, "");
	f.dyn[1] = (Elf64_Dyn){ .d_tag = DT_FLAGS_1, .d_un.d_val = DF_1_PIE };
	expect(make_file("ld.so.3", &f, sizeof(f), 0755), ELF_CHECK_STATIC_PIE, "");
	f.dyn[0].d_tag = DT_NULL;
	expect(make_file("ld.so.4", &f, sizeof(f), 0755), ELF_CHECK_OK, "");
	f.dyn[0].d_tag = DT_DEBUG;
	f.ph[0].p_filesz = sizeof(f.dyn[0]);
	expect(make_file("ld.so.5", &f, sizeof(f), 0755), ELF_CHECK_OK, "");
	f.ph[0].p_offset = UINT64_MAX - 4;
	expect(make_file("ld.so.6", &f, sizeof(f), 0755), ELF_CHECK_OK, "");
	f = elf_file(ET_DYN, NULL, false);
	f.dyn[0].d_un.d_val = ~(uint64_t)DF_1_PIE;
	expect(make_file("ld-x.so.7", &f, sizeof(f), 0755), ELF_CHECK_OK, "");
}

/* A program that may be run and not read; for root there is none. */
static void what_cannot_be_read_is_not_judged(void **state)
{
	struct elf_file f = elf_file(ET_DYN, LOADER, true);
	const char *path = make_file("secret", &f, sizeof(f), 0711);
	int status;
	pid_t pid;

	(void)state;
	chmod(dir, 0755);
	pid = fork();
	if (!pid) {
		struct elf_check c;
		struct err e = { 0 };

		if (!getuid() && (setgid(65534) || setuid(65534)))
			_exit(2);
		if (getuid() != 65534 && chmod(path, 0311))
			_exit(2);
		_exit(elf_check(path, &c, &e) != ELF_CHECK_UNREADABLE ||
		      !strstr(e.text, "may be executed but not read"));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void other_machines_are_refused(void **state)
{
	struct elf_file f = elf_file(ET_DYN, LOADER, true);

	(void)state;
	f.eh.e_machine = EM_AARCH64;
	expect_elf(f, ELF_CHECK_WRONG_ARCH, "another processor");
	f.eh.e_machine = EM_X86_64;
	f.eh.e_ident[EI_CLASS] = ELFCLASS32;
	expect_elf(f, ELF_CHECK_WRONG_ARCH, "32 bits");
}

static void damaged_files_are_refused(void **state)
{
	struct elf_file f = elf_file(ET_DYN, LOADER, true);

	(void)state;
	expect(make_file("short", &f, 20, 0755), ELF_CHECK_DAMAGED, "damaged");
	f.eh.e_phoff = UINT64_MAX - 7;
	expect_elf(f, ELF_CHECK_DAMAGED, "damaged");
	f = elf_file(ET_DYN, LOADER, true);
	f.ph[1].p_filesz = UINT64_MAX;
	expect_elf(f, ELF_CHECK_DAMAGED, "damaged");
	f = elf_file(ET_REL, LOADER, true);
	expect_elf(f, ELF_CHECK_DAMAGED, "damaged");
	expect_elf(elf_file(ET_DYN, "/lib/no-such-loader", true), ELF_CHECK_NO_LOADER,
		   "does not exist here");
	expect(make_file("text", "hello\n", 6, 0755), ELF_CHECK_NOT_ELF,
	       "neither an ELF program nor a script");
	expect(make_file("empty", "", 0, 0755), ELF_CHECK_NOT_ELF, "neither");
}

static void what_cannot_be_run_is_refused(void **state)
{
	(void)state;
	expect(in_dir("no-such-file"), ELF_CHECK_NOT_FOUND, "cannot find the program");
	expect("no-such-program-anywhere", ELF_CHECK_NOT_FOUND, "'no-such-program-anywhere'");
	expect("", ELF_CHECK_NOT_FOUND, "cannot find");
	expect(dir, ELF_CHECK_DIRECTORY, "is a directory");
	expect(make_file("data", "x", 1, 0644), ELF_CHECK_NOT_EXECUTABLE, "may not be executed");
	expect("/dev/null", ELF_CHECK_NOT_EXECUTABLE, "may not be executed");
}

static void scripts_are_followed(void **state)
{
	char text[256];
	struct elf_check c;

	(void)state;
	assert_int_equal(elf_check(make_script("a.sh", "#! /bin/cat -n\n"), &c, NULL),
			 ELF_CHECK_OK);
	assert_true(c.script);
	assert_string_equal(c.path, in_dir("a.sh"));
	assert_string_equal(c.program, "/bin/cat");
	snprintf(text, sizeof(text), "#!%s\n", in_dir("a.sh"));
	assert_int_equal(elf_check(make_script("b.sh", text), &c, NULL), ELF_CHECK_OK);
	assert_string_equal(c.program, "/bin/cat");
	snprintf(text, sizeof(text), "#!%s\n", in_dir("loop.sh"));
	expect(make_script("loop.sh", text), ELF_CHECK_BAD_SCRIPT, "interpreter of the script");
	expect(make_script("c.sh", "#!/no/such\n"), ELF_CHECK_BAD_SCRIPT, "c.sh");
	expect(make_script("d.sh", "#!\n"), ELF_CHECK_BAD_SCRIPT, "d.sh");
}

static void path_is_searched_like_execvp(void **state)
{
	struct elf_file f = elf_file(ET_DYN, LOADER, true);
	char *old = strdup(getenv("PATH") ? getenv("PATH") : ""), path[256];
	struct elf_check c;

	(void)state;
	mkdir(in_dir("one"), 0755);
	mkdir(in_dir("two"), 0755);
	make_file("one/prog", "x", 1, 0644);
	make_file("two/prog", &f, sizeof(f), 0755);
	make_file("one/only", "x", 1, 0644);
	snprintf(path, sizeof(path), "/no/such/dir:%s:%s", in_dir("one"), in_dir("two"));
	setenv("PATH", path, 1);
	assert_int_equal(elf_check("prog", &c, NULL), ELF_CHECK_OK);
	assert_string_equal(c.path, in_dir("two/prog"));
	expect("only", ELF_CHECK_NOT_EXECUTABLE, "one/only");
	setenv("PATH", old, 1);
	free(old);
}

static void other_peoples_rights_are_told(void **state)
{
	struct elf_file f = elf_file(ET_DYN, LOADER, true);
	const char *path = make_file("suid", &f, sizeof(f), 0755);
	struct statvfs fs;
	struct elf_check c;
	struct err e = { 0 };

	(void)state;
	if (!statvfs(dir, &fs) && (fs.f_flag & ST_NOSUID)) {
		print_message("[  SKIPPED ] %s is mounted nosuid\n", dir);
		skip();
	}
	assert_int_equal(chmod(path, 04755), 0);
	assert_int_equal(elf_check_as(path, getuid(), getgid(), &c, NULL), ELF_CHECK_OK);
	assert_int_equal(elf_check_as(path, getuid() + 1, getgid(), &c, &e), ELF_CHECK_SETUID);
	assert_non_null(strstr(e.text, "preload is ignored"));
	assert_int_equal(chmod(path, 02755), 0);
	assert_int_equal(elf_check_as(path, getuid(), getgid() + 1, &c, NULL), ELF_CHECK_SETUID);
	assert_int_equal(chmod(path, 02745), 0);	/* without group x it is no set-group-ID */
	assert_int_equal(elf_check_as(path, getuid(), getgid() + 1, &c, NULL), ELF_CHECK_OK);
}

static void file_capabilities_are_told(void **state)
{
	/*
	 * struct vfs_cap_data, revision 2: cap_net_raw permitted and effective
	 * (linux/capability.h)
	 */
	static const uint32_t caps[5] = { 0x02000001, 1 << 13, 0, 0, 0 };
	struct elf_file f = elf_file(ET_DYN, LOADER, true);
	const char *path = make_file("caps", &f, sizeof(f), 0755);
	struct elf_check c;
	struct err e = { 0 };

	(void)state;
	if (setxattr(path, "security.capability", caps, sizeof(caps), 0)) {
		print_message("[  SKIPPED ] file capabilities cannot be set in %s: %s\n", dir,
			      strerror(errno));
		skip();
	}
	assert_int_equal(elf_check_as(path, 1000, 1000, &c, &e), ELF_CHECK_CAPABILITIES);
	assert_non_null(strstr(e.text, "file capabilities"));
	assert_int_equal(elf_check_as(path, 0, 0, &c, NULL), ELF_CHECK_OK);
}

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/pmm-elf-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dynamic_programs_are_fine),
		cmocka_unit_test(flags_are_found_anywhere_in_a_long_dynamic_section),
		cmocka_unit_test(static_programs_are_told_apart),
		cmocka_unit_test(without_the_flag_it_is_a_loader),
		cmocka_unit_test(what_cannot_be_read_is_not_judged),
		cmocka_unit_test(other_machines_are_refused),
		cmocka_unit_test(damaged_files_are_refused),
		cmocka_unit_test(what_cannot_be_run_is_refused),
		cmocka_unit_test(scripts_are_followed),
		cmocka_unit_test(path_is_searched_like_execvp),
		cmocka_unit_test(other_peoples_rights_are_told),
		cmocka_unit_test(file_capabilities_are_told),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
