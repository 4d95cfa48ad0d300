/* SPDX-License-Identifier: MIT */
/*
 * The loader's list of objects and their symbol tables, read without calling the loader.
 *
 * The way there: the initial stack holds the auxiliary vector, that the program headers of the main
 * program, these its dynamic section, and DT_DEBUG in it the list. Used once, when the process has
 * one thread and no dlopen is under way.
 */
#include "agent/preload/link.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/env.h"
#include "agent/sys.h"
#include "include/pmm/channel.h"
#include "include/pmm/ledger.h"

/* glibc's loader notes where the initial stack began: argc, argv, 0, envp, 0, auxv. */
extern void *__libc_stack_end __attribute__((weak));
extern char **environ __attribute__((weak));

/* From <link.h>, which brings a link_map of its own. */
struct dl_phdr_info {
	uint64_t dlpi_addr;
	const char *dlpi_name;
	const Elf64_Phdr *dlpi_phdr;
	uint16_t dlpi_phnum;
};

extern int dl_iterate_phdr(int (*look)(struct dl_phdr_info *, size_t, void *), void *arg)
	__attribute__((weak));
extern Elf64_Dyn _DYNAMIC[] __attribute__((visibility("hidden")));

struct r_debug {
	int version;
	struct link_map *map;
};

static char **env_first(void)
{
	if (&__libc_stack_end && __libc_stack_end) {
		uint64_t *sp = __libc_stack_end;

		return (char **)(sp + 1 + *sp + 1);
	}
	return &environ ? environ : NULL;
}

const char *env_get(const char *name)
{
	char **env = env_first();
	size_t n = str_length(name);

	for (; env && *env; env++)
		if (str_starts(*env, name) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

static void mark(char **env, const char *name, char c)
{
	size_t n = str_length(name);

	for (; env && *env; env++)
		if (str_starts(*env, name) && (*env)[n] == '=')
			(*env)[n + 1] = c;
}

void env_mark(const char *name, char c)
{
	mark(env_first(), name, c);
	/* a program that writes titles there has a copy */
	mark(&environ ? environ : NULL, name, c);
}

char **env_now(void)
{
	return &environ ? environ : NULL;
}

void env_replace(char **env)
{
	if (&environ)
		environ = env;
}

/*
 * LD_PRELOAD without its first entry, in place: the characters are in the memory that the kernel
 * has made for them.
 */
static void restore_preload(char **env)
{
	char *value, *from;

	while (*env && !str_starts(*env, "LD_PRELOAD="))
		env++;
	if (!*env)
		return;
	value = from = *env + sizeof("LD_PRELOAD=") - 1;
	while (*from && *from != ':')
		from++;
	from += *from == ':';
	while ((*value++ = *from++))
		;
}

/* The last two, if they are ours. */
static bool take_two(char **env, char *how)
{
	size_t nr = 0;

	while (env[nr])
		nr++;
	if (nr < 2 || !str_starts(env[nr - 1], PMM_ENV "=") ||
	    env[nr - 1][sizeof(PMM_ENV)] != PMM_ENV_HIDDEN)
		return false;
	*how = env[nr - 1][sizeof(PMM_ENV) + 1];
	env[nr - 2] = env[nr - 1] = NULL;
	return true;
}

/*
 * Two pointers are as large as an entry of the auxiliary vector, which begins behind the pointer
 * that ends the environment: so that it still does, for who walks there, the place of the two
 * becomes an entry that means nothing.
 */
void env_hide(void)
{
	char **first = env_first(), **end = first;
	uint64_t *gap;
	char how;

	if (!first || !take_two(first, &how))
		return;
	while (*end)
		end++;
	gap = (uint64_t *)(end + 1);
	gap[0] = AT_IGNORE;
	gap[1] = 0;
	if (how == PMM_HIDDEN_REST)
		restore_preload(first);
	/* a library's constructor has made a copy of it */
	if (&environ && environ && environ != first)
		take_two(environ, &how);
}

/*
 * The kernel's copy. Before we are relocated, in hooks called by resolvers of other libraries'
 * functions, the loader's is out of sight.
 */
static uint64_t aux_of_kernel(uint64_t type)
{
	Elf64_auxv_t a = { .a_type = AT_NULL };
	uint64_t value = 0;
	int fd = sys_open("/proc/self/auxv", SYS_O_RDONLY);

	if (fd < 0)
		return 0;
	while (sys3(read, fd, &a, sizeof(a)) == sizeof(a) && a.a_type != AT_NULL)
		if (a.a_type == type)
			value = a.a_un.a_val;
	sys1(close, fd);
	return value;
}

uint64_t link_aux(uint64_t type)
{
	char **env = env_first();
	Elf64_auxv_t *a;

	if (!env)
		return aux_of_kernel(type);
	while (*env)
		env++;
	for (a = (Elf64_auxv_t *)(env + 1); a->a_type != AT_NULL; a++)
		if (a->a_type == type)
			return a->a_un.a_val;
	return 0;
}

struct link_map *link_first(void)
{
	const Elf64_Phdr *ph = (const Elf64_Phdr *)link_aux(AT_PHDR), *dynamic = NULL;
	uint64_t bias = 0;

	if (!ph)
		return NULL;
	for (uint64_t i = 0, nr = link_aux(AT_PHNUM); i < nr; i++) {
		if (ph[i].p_type == PT_PHDR)
			bias = (uint64_t)ph - ph[i].p_vaddr;
		if (ph[i].p_type == PT_DYNAMIC)
			dynamic = &ph[i];
	}
	if (!dynamic)
		return NULL;
	for (Elf64_Dyn *d = (Elf64_Dyn *)(bias + dynamic->p_vaddr); d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_DEBUG && d->d_un.d_ptr)
			return ((struct r_debug *)d->d_un.d_ptr)->map;
	return NULL;
}

void *link_vdso_symbol(const char *name)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)link_aux(AT_SYSINFO_EHDR);
	const Elf64_Phdr *ph;
	struct link_map map = { 0 };

	if (!e)
		return NULL;
	ph = (const Elf64_Phdr *)((const char *)e + e->e_phoff);
	for (unsigned i = 0; i < e->e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && !map.l_addr)
			map.l_addr = (uint64_t)e + ph[i].p_offset - ph[i].p_vaddr;
		if (ph[i].p_type == PT_DYNAMIC)
			map.l_ld = (char *)e + ph[i].p_offset;
	}
	return map.l_ld ? link_symbol(&map, name) : NULL;
}

/*
 * Remembered: unsetenv() moves the environment in place, and where it ended before is no auxiliary
 * vector any more.
 */
struct link_map *link_self(void)
{
	static struct link_map *self;
	struct link_map *m = LOAD(self);

	if (m)
		return m;
	m = link_first();
	while (m && m->l_ld != (void *)_DYNAMIC)
		m = m->l_next;
	STORE(self, m);
	return m;
}

/* The tables of an object. */
struct tables {
	const Elf64_Sym *sym;
	const char *str;
	const uint16_t *version;
	const uint32_t *gnu_hash, *hash;
};

/* The dynamic section holds addresses or, where the loader did not relocate it, offsets. */
static const void *at(const struct link_map *map, uint64_t value)
{
	return (const void *)(value < map->l_addr ? value + map->l_addr : value);
}

static bool tables_read(const struct link_map *map, struct tables *t)
{
	*t = (struct tables){ 0 };
	for (const Elf64_Dyn *d = map->l_ld; d && d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB:
			t->sym = at(map, d->d_un.d_ptr);
			break;
		case DT_STRTAB:
			t->str = at(map, d->d_un.d_ptr);
			break;
		case DT_VERSYM:
			t->version = at(map, d->d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			t->gnu_hash = at(map, d->d_un.d_ptr);
			break;
		case DT_HASH:
			t->hash = at(map, d->d_un.d_ptr);
			break;
		default:
			break;
		}
	}
	return t->sym && t->str && (t->gnu_hash || t->hash);
}

/*
 * A definition of the default version, or of an old one only (`hidden`) when `old` asks for these.
 */
static bool matches(const struct tables *t, uint32_t i, const char *name, bool old)
{
	const Elf64_Sym *s = &t->sym[i];
	unsigned type = ELF64_ST_TYPE(s->st_info);
	bool hidden = t->version && t->version[i] & 0x8000;

	return s->st_shndx != SHN_UNDEF &&
	       (type == STT_FUNC || type == STT_OBJECT || type == STT_GNU_IFUNC) && hidden == old &&
	       str_equal(t->str + s->st_name, name);
}

static uint32_t find_gnu(const struct tables *t, const char *name, bool old)
{
	const uint32_t *h = t->gnu_hash;
	uint32_t nr_buckets = h[0], first = h[1], bloom_words = h[2];
	const uint32_t *buckets = h + 4 + bloom_words * 2;
	const uint32_t *chain = buckets + nr_buckets;
	uint32_t hash = 5381, i;

	for (const char *s = name; *s; s++)
		hash = hash * 33 + (uint8_t)*s;
	if (!nr_buckets)
		return 0;
	for (i = buckets[hash % nr_buckets]; i >= first && i; i++) {
		uint32_t value = chain[i - first];

		if ((value | 1) == (hash | 1) && matches(t, i, name, old))
			return i;
		if (value & 1)
			break;
	}
	return 0;
}

static uint32_t find_sysv(const struct tables *t, const char *name, bool old)
{
	for (uint32_t i = 1; i < t->hash[1]; i++)
		if (matches(t, i, name, old))
			return i;
	return 0;
}

void *link_symbol(const struct link_map *map, const char *name)
{
	struct tables t;
	uint32_t i = 0;

	if (!tables_read(map, &t))
		return NULL;
	for (int old = 0; old < 2 && !i; old++)
		i = t.gnu_hash ? find_gnu(&t, name, old) : find_sysv(&t, name, old);
	if (!i)
		return NULL;
	if (ELF64_ST_TYPE(t.sym[i].st_info) == STT_GNU_IFUNC)
		return ((void *(*)(void))(map->l_addr + t.sym[i].st_value))();
	return (void *)(map->l_addr + t.sym[i].st_value);
}

void *link_symbol_from(struct link_map *map, const char *name, struct link_map **where)
{
	for (; map; map = map->l_next) {
		void *p = link_symbol(map, name);

		if (p) {
			if (where)
				*where = map;
			return p;
		}
	}
	return NULL;
}

void *link_next(void **known, const char *name)
{
	struct link_map *self;
	void *f = LOAD(*known);

	if (f)
		return f;
	self = link_self();
	f = self ? link_symbol_from(self->l_next, name, NULL) : NULL;
	STORE(*known, f);
	return f;
}

/* ---- what is bound to names ------------------------------------------------------------------ */

static void bindings_in(const struct link_map *map, const struct tables *t, const Elf64_Rela *r,
			uint64_t bytes, void (*each)(void *, const struct link_binding *),
			void *arg)
{
	for (; r && bytes >= sizeof(*r); r++, bytes -= sizeof(*r)) {
		uint64_t type = ELF64_R_TYPE(r->r_info), symbol = ELF64_R_SYM(r->r_info);
		struct link_binding b = { .at = (uint64_t *)(map->l_addr + r->r_offset),
					  .call = type == ARCH_RELOC_CALL };

		if (!symbol || (type != ARCH_RELOC_CALL && type != ARCH_RELOC_GLOBAL &&
				(type != ARCH_RELOC_WORD || r->r_addend)))
			continue;
		b.name = t->str + t->sym[symbol].st_name;
		b.weak = ELF64_ST_BIND(t->sym[symbol].st_info) == STB_WEAK;
		each(arg, &b);
	}
}

void link_bindings(const struct link_map *map,
		   void (*each)(void *arg, const struct link_binding *b), void *arg)
{
	const Elf64_Rela *rela = NULL, *calls = NULL;
	uint64_t rela_bytes = 0, calls_bytes = 0;
	struct tables t;

	tables_read(map, &t);
	for (const Elf64_Dyn *d = map->l_ld; d && d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_RELA:
			rela = at(map, d->d_un.d_ptr);
			break;
		case DT_RELASZ:
			rela_bytes = d->d_un.d_val;
			break;
		case DT_JMPREL:
			calls = at(map, d->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			calls_bytes = d->d_un.d_val;
			break;
		default:
			break;
		}
	}
	if (!t.sym || !t.str)
		return;
	bindings_in(map, &t, rela, rela_bytes, each, arg);
	bindings_in(map, &t, calls, calls_bytes, each, arg);
}

struct visit {
	int (*look)(void *arg, const struct link_object *o);
	void *arg;
};

static int visited(struct dl_phdr_info *o, size_t bytes, void *arg)
{
	struct link_object to = { .map.l_addr = o->dlpi_addr,
				  .headers = o->dlpi_phdr,
				  .nr_headers = o->dlpi_phnum };
	struct visit *v = arg;

	(void)bytes;
	for (unsigned i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_DYNAMIC)
			to.map.l_ld = (void *)(o->dlpi_addr + o->dlpi_phdr[i].p_vaddr);
	return to.map.l_ld && to.map.l_ld != (void *)_DYNAMIC ? v->look(v->arg, &to) : 0;
}

void link_each(int (*look)(void *arg, const struct link_object *o), void *arg)
{
	struct visit v = { look, arg };

	if (&dl_iterate_phdr)
		dl_iterate_phdr(visited, &v);
}

struct wanted {
	const char *name;
	void *found;
};

static int late_look(void *arg, const struct link_object *o)
{
	struct wanted *w = arg;

	w->found = link_symbol(&o->map, w->name);
	return w->found != NULL;
}

void *link_symbol_late(const char *name)
{
	struct wanted w = { name, NULL };

	link_each(late_look, &w);
	return w.found;
}
