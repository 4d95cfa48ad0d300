/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths of files, by device and inode: read once of each, by the kernel's names. */
#ifndef BPF_FILE_PATH_H
#define BPF_FILE_PATH_H

#include "bpf/faults_abi.h"
#include "bpf/trace.h"

/* Names of files that were met; each object has its own table and room. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct fault_file_key);
	__type(value, struct fault_file);
} files SEC(".maps");

/* With what bpf_probe_read_kernel_str() may write behind the last name that has room. */
struct file_room {
	struct fault_file file;
	char behind[FAULT_NAME_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct file_room);
} file_rooms SEC(".maps");

#define FILE_MAX_DEPTH	40

/* Add a name; false: no room for it. */
static __always_inline bool file_add_name(struct fault_file *f, struct dentry *dentry)
{
	u32 at = f->bytes;
	long got;

	if (at >= FAULT_PATH_BYTES - FAULT_NAME_BYTES)
		return false;
	got = bpf_probe_read_kernel_str(f->names + at, FAULT_NAME_BYTES,
					BPF_CORE_READ(dentry, d_name.name));
	if (got <= 0)
		return false;
	f->bytes = at + got;
	return true;
}

/* Names from the file up to the root of all mounts, as d_path() has them. */
static __always_inline bool file_walk(struct fault_file *f, struct file *file)
{
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry), *parent;
	struct vfsmount *vfsmount = BPF_CORE_READ(file, f_path.mnt);
	struct mount *mount, *above;

	mount = (void *)((char *)vfsmount - bpf_core_field_offset(struct mount, mnt));
	for (int i = 0; i < FILE_MAX_DEPTH; i++) {
		if (dentry == BPF_CORE_READ(mount, mnt.mnt_root)) {
			above = BPF_CORE_READ(mount, mnt_parent);
			if (above == mount)
				return true;
			dentry = BPF_CORE_READ(mount, mnt_mountpoint);
			mount = above;
			continue;
		}
		parent = BPF_CORE_READ(dentry, d_parent);
		if (!file_add_name(f, dentry))
			return false;
		if (parent == dentry)		/* in no directory: memfd, System V */
			return true;
		dentry = parent;
	}
	return false;
}

/* Have its path in the table. */
static __always_inline void file_name(struct file *file, u64 inode, u32 device)
{
	struct fault_file_key key = { .inode = inode, .device = device };
	struct file_room *room;
	u32 zero = 0;

	if (bpf_map_lookup_elem(&files, &key))
		return;
	room = bpf_map_lookup_elem(&file_rooms, &zero);
	if (!room)
		return;
	room->file.bytes = 0;
	room->file.deleted = !BPF_CORE_READ(file, f_inode, i_nlink);
	room->file.cut = !file_walk(&room->file, file);
	bpf_map_update_elem(&files, &key, &room->file, BPF_NOEXIST);
}

#endif
