/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the kernel's functions, from lines "ADDRESS TYPE NAME", with "\t[MODULE]" behind those
 * of modules.
 */
#include "src/kernel/ksyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES	(256u << 10)
/* A function without a successor, or with a gap behind it, is not believed to be longer. */
#define MAX_FUNCTION	(1u << 20)

static bool hex_read(const char **p, const char *end, uint64_t *value)
{
	const char *begin = *p;

	for (*value = 0; *p < end; ++*p) {
		int c = **p;
		unsigned digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (unsigned)(c - 'a' + 10);
		else
			break;
		*value = *value << 4 | digit;
	}
	return *p > begin && *p - begin <= 16;
}

/* The module in "NAME\t[MODULE]": 0 none, or its number; -ENOMEM. */
static int64_t module_number(struct ksyms *k, const char *at, const char *end)
{
	while (at < end && (*at == '\t' || *at == ' '))
		at++;
	if (end - at < 3 || *at != '[' || end[-1] != ']')
		return 0;
	if (!k->modules.nr && intern_add(&k->modules, "") < 0)
		return -ENOMEM;
	return intern_addn(&k->modules, at + 1, (size_t)(end - at - 2));
}

static int name_add(struct ksyms *k, const char *name, size_t bytes)
{
	if (vec_reserve(&k->names, k->names.nr + bytes + 1))
		return -ENOMEM;
	memcpy(k->names.v + k->names.nr, name, bytes);
	k->names.v[k->names.nr + bytes] = '\0';
	k->names.nr += bytes + 1;
	return 0;
}

static int line_add(struct ksyms *k, const char *at, const char *end)
{
	struct ksym s = { .name = (uint32_t)k->names.nr };
	const char *name, *behind;
	int64_t module;
	char type;

	if (!hex_read(&at, end, &s.address) || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return 0;
	type = at[1];
	name = behind = at + 3;
	while (behind < end && *behind != '\t' && *behind != ' ')
		behind++;
	/* functions; and what has no name or would not fit */
	if (!strchr("tTwW", type) || behind == name || k->names.nr > UINT32_MAX / 2)
		return 0;
	module = module_number(k, behind, end);
	if (module < 0 || name_add(k, name, (size_t)(behind - name)))
		return -ENOMEM;
	s.module = (uint32_t)module;
	return vec_push(&k->v, s);
}

/* The longer name last, so that of several at one address a search finds the same at each run. */
static int by_address(const void *a, const void *b)
{
	const struct ksym *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name < y->name ? 1 : -(x->name > y->name);
}

static int finish(struct ksyms *k, struct err *e)
{
	bool shown = false;

	vec_each(&k->v, s)
		shown |= s->address;
	if (!shown) {
		vec_fini(&k->v);
		err_set(e, -EPERM, "the kernel hides the addresses of its functions");
		err_hint(e, "run as root, or with CAP_SYSLOG and kernel.kptr_restrict below 2");
		return -EPERM;
	}
	vec_sort(&k->v, by_address);
	return 0;
}

static int lines_add(struct ksyms *k, const char *text, size_t bytes, size_t *used)
{
	const char *at = text, *end = text + bytes, *newline;
	int rc = 0;

	while (!rc && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		rc = line_add(k, at, newline);
		at = newline + 1;
	}
	*used = (size_t)(at - text);
	return rc;
}

int ksyms_parse(struct ksyms *k, const char *text, size_t bytes, struct err *e)
{
	size_t used;
	int rc = lines_add(k, text, bytes, &used);

	k->tried = true;
	k->rc = rc ? err_set(&k->err, rc, "out of memory") : finish(k, &k->err);
	if (e)
		*e = k->err;
	return k->rc;
}

static int read_lines(struct ksyms *k, int fd, char *buffer)
{
	size_t held = 0, used;
	ssize_t n;
	int rc = 0;

	while (!rc && (n = read(fd, buffer + held, READ_BYTES - held)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		held += (size_t)n;
		rc = lines_add(k, buffer, held, &used);
		held -= used;
		memmove(buffer, buffer + used, held);
		if (held == READ_BYTES)
			held = 0;		/* a line that long is none */
	}
	return rc;
}

static int read_kernel(struct ksyms *k, struct err *e)
{
	char *buffer = malloc(READ_BYTES);
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC), rc = fd < 0 ? -errno : 0;

	if (!buffer)
		rc = -ENOMEM;
	if (!rc)
		rc = read_lines(k, fd, buffer);
	free(buffer);
	if (fd >= 0)
		close(fd);
	if (rc)
		return err_set(e, rc, "cannot read /proc/kallsyms: %s", strerror(-rc));
	return finish(k, e);
}

int ksyms_find(struct ksyms *k, uint64_t address, struct ksym_name *out, struct err *e)
{
	const struct ksym *s;
	size_t i;

	*out = (struct ksym_name){ 0 };
	if (!k->tried) {
		k->tried = true;
		k->rc = read_kernel(k, &k->err);
	}
	if (k->rc) {
		if (e)
			*e = k->err;
		return k->rc;
	}
	i = vec_while(&k->v, p, p->address <= address);
	if (!i || address - k->v.v[i - 1].address >= MAX_FUNCTION)
		return 0;
	s = &k->v.v[i - 1];
	*out = (struct ksym_name){
		.name = k->names.v + s->name,
		.module = s->module ? intern_text(&k->modules, s->module) : NULL,
		.offset = address - s->address,
	};
	return 0;
}

bool ksyms_add(struct ksyms *k, uint64_t address, struct str *out)
{
	struct ksym_name name;

	if (ksyms_find(k, address, &name, NULL) || !name.name)
		return false;
	str_addf(out, "%s+0x%llx", name.name, (unsigned long long)name.offset);
	if (name.module)
		str_addf(out, " [%s]", name.module);
	return true;
}

void ksyms_fini(struct ksyms *k)
{
	vec_fini(&k->v);
	vec_fini(&k->names);
	intern_fini(&k->modules);
	*k = (struct ksyms){ 0 };
}
