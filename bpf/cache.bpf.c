/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who fills the page cache, with which files. Not with those of tmpfs and shared memory: the kernel
 * has no tracepoint where it adds their pages.
 */
#include "bpf/trace.h"

#include "bpf/pages_abi.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct cache_file_key);
	__type(value, struct cache_file);
} cache_files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct cache_user_key);
	__type(value, struct cache_user);
} cache_users SEC(".maps");

/* A file that is to be put into the table. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cache_file);
} cache_new SEC(".maps");

#define PAGE_BYTES	4096ull
#define TMPFS_MAGIC	0x01021994	/* include/uapi/linux/magic.h */
#define BDEVFS_MAGIC	0x62646576
#define MAX_ORDER	18

/* What a page that is added or removed is of. */
struct cached {
	struct inode *inode;
	struct cache_file_key key;
	u64 bytes;
};

static __always_inline u64 bytes_of(void *page)
{
	u32 head = bpf_core_enum_value(enum pageflags, PG_head), order = 0;
	struct folio *folio = page;
	u64 flags = 0;

	/* flags come first on all kernels, whatever their type is called */
	bpf_probe_read_kernel(&flags, sizeof(flags), page);
	if (!(flags >> (head & 63) & 1))
		return PAGE_BYTES;
	if (!bpf_core_type_exists(struct folio)) {
		struct page *second = page + bpf_core_type_size(struct page);

		order = BPF_CORE_READ(second, compound_order);
	} else if (bpf_core_field_exists(folio->_folio_order)) {
		order = BPF_CORE_READ(folio, _folio_order);
	} else {
		order = BPF_CORE_READ(folio, _flags_1) & 0xff;
	}
	return PAGE_BYTES << (order > MAX_ORDER ? 0 : order);
}

static __always_inline bool look(void *page, struct cached *c)
{
	struct address_space *mapping;
	struct super_block *sb;
	struct inode *inode;
	unsigned long magic;

	if (bpf_core_type_exists(struct folio))
		mapping = BPF_CORE_READ((struct folio *)page, mapping);
	else
		mapping = BPF_CORE_READ((struct page *)page, mapping);
	c->inode = inode = BPF_CORE_READ(mapping, host);
	sb = BPF_CORE_READ(inode, i_sb);
	magic = BPF_CORE_READ(sb, s_magic);
	if (magic == TMPFS_MAGIC)
		return false;
	if (magic == BDEVFS_MAGIC) {
		c->key.inode = 0;
		c->key.device = BPF_CORE_READ(inode, i_rdev);
	} else {
		c->key.inode = BPF_CORE_READ(inode, i_ino);
		c->key.device = BPF_CORE_READ(sb, s_dev);
	}
	c->key.pad = 0;
	c->bytes = bytes_of(page);
	return true;
}

#define MAX_COMPONENTS	12
#define COMPONENT_BYTES	64

static __always_inline void find_name(struct cache_file *f, struct inode *inode)
{
	struct hlist_node *alias = BPF_CORE_READ(inode, i_dentry.first);
	struct dentry *d, *parent;
	u32 at = 0;
	long got;

	f->name[0] = '\0';
	if (!alias)
		return;
	d = (void *)alias - bpf_core_field_offset(struct dentry, d_u.d_alias);
	for (int i = 0; i < MAX_COMPONENTS; i++) {
		parent = BPF_CORE_READ(d, d_parent);
		if (!parent || parent == d || at > CACHE_NAME_BYTES - COMPONENT_BYTES)
			break;
		got = bpf_probe_read_kernel_str(f->name + at, COMPONENT_BYTES,
						BPF_CORE_READ(d, d_name.name));
		if (got <= 1 || got > COMPONENT_BYTES)
			break;
		if (at)
			f->name[(at - 1) & (CACHE_NAME_BYTES - 1)] = '/';
		at += got;
		d = parent;
	}
}

static __always_inline struct cache_file *file_of(const struct cached *c, u32 kind)
{
	struct cache_file *f = bpf_map_lookup_elem(&cache_files, &c->key), *new;
	u32 zero = 0;

	if (f)
		return f;
	new = bpf_map_lookup_elem(&cache_new, &zero);
	if (!new)
		return NULL;
	new->added = new->removed = 0;
	find_name(new, c->inode);
	bpf_map_update_elem(&cache_files, &c->key, new, BPF_NOEXIST);
	f = bpf_map_lookup_elem(&cache_files, &c->key);
	if (!f)
		TRACE_COUNT(kind, dropped);
	return f;
}

static __always_inline struct cache_user *user_of(const struct cached *c, u32 tgid, u32 kind)
{
	struct cache_user_key key = { .inode = c->key.inode, .device = c->key.device, .tgid = tgid };
	struct cache_user *u = bpf_map_lookup_elem(&cache_users, &key), new = { 0 };

	if (u)
		return u;
	bpf_get_current_comm(new.comm, sizeof(new.comm));
	bpf_map_update_elem(&cache_users, &key, &new, BPF_NOEXIST);
	u = bpf_map_lookup_elem(&cache_users, &key);
	if (!u)
		TRACE_COUNT(kind, dropped);
	return u;
}

static __always_inline void report(const struct trace_task *t, const struct cached *c,
				   const struct cache_file *f, struct cache_user *u)
{
	u64 step = config.min_bytes ? config.min_bytes : CACHE_STEP_BYTES, added = u->added;
	struct trace_room *room;

	if (added - u->reported < step)
		return;
	room = trace_room(t, TRACE_CACHE_ADD);
	if (!room)
		return;
	room->r.a[0] = c->key.device;
	room->r.a[1] = c->key.inode;
	room->r.a[2] = added - u->reported;
	room->r.a[3] = added;
	u->reported = added;
	trace_send_text(room, bpf_probe_read_kernel_str(room->text, CACHE_NAME_BYTES, f->name));
}

SEC("raw_tp/mm_filemap_add_to_page_cache")
int cache_add(u64 *ctx)
{
	struct cache_file *f;
	struct cache_user *u;
	struct trace_task t;
	struct cached c;

	if (!trace_wanted(&t) || !look((void *)ctx[0], &c))
		return 0;
	trace_seen(TRACE_CACHE_ADD);
	f = file_of(&c, TRACE_CACHE_ADD);
	u = user_of(&c, t.tgid, TRACE_CACHE_ADD);
	if (f)
		__sync_fetch_and_add(&f->added, c.bytes);
	if (!u)
		return 0;
	__sync_fetch_and_add(&u->added, c.bytes);
	if (f && trace_recorded(TRACE_CACHE_ADD))
		report(&t, &c, f, u);
	return 0;
}

/* By all processes: of files that are in the table, or, without filters, of all. */
SEC("raw_tp/mm_filemap_delete_from_page_cache")
int cache_remove(u64 *ctx)
{
	struct trace_task t;
	struct cache_file *f;
	struct cache_user *u;
	struct cached c;
	bool wanted = trace_wanted(&t);

	if (!look((void *)ctx[0], &c))
		return 0;
	if (!wanted && !bpf_map_lookup_elem(&cache_files, &c.key))
		return 0;
	trace_seen(TRACE_CACHE_REMOVE);
	f = file_of(&c, TRACE_CACHE_REMOVE);
	if (f)
		__sync_fetch_and_add(&f->removed, c.bytes);
	if (!wanted)
		return 0;
	u = user_of(&c, t.tgid, TRACE_CACHE_REMOVE);
	if (u)
		__sync_fetch_and_add(&u->removed, c.bytes);
	return 0;
}
