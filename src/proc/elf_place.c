/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a mapped ELF file lies. */
#include "src/proc/elf_place.h"

#include <errno.h>
#include <string.h>

#include "src/proc/elffile.h"

_Static_assert(sizeof((struct elf_place){ 0 }.build_id) >= ELF_FILE_BUILD_ID_MAX, "has room");

/* Is part of the segment in the mapping? */
static bool overlaps(const GElf_Phdr *ph, const struct proc_map *map)
{
	return ph->p_type == PT_LOAD && map->offset < ph->p_offset + ph->p_filesz &&
	       map->offset + (map->end - map->start) > ph->p_offset;
}

int elf_place_read(const char *path, const struct proc_map *map, struct elf_place *out)
{
	struct elf_file f = { 0 };
	size_t nr = 0;
	int rc = elf_file_open(&f, path);

	*out = (struct elf_place){ 0 };
	if (rc)
		return rc;
	rc = -ENOEXEC;
	if (elf_getphdrnum(f.elf, &nr))
		nr = 0;
	for (size_t i = 0; i < nr && rc; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(f.elf, (int)i, &ph) || !overlaps(&ph, map))
			continue;
		out->bias = map->start - map->offset - (ph.p_vaddr - ph.p_offset);
		rc = 0;
	}
	if (!rc) {
		memcpy(out->build_id, f.build_id, f.build_id_len);
		out->build_id_len = f.build_id_len;
	}
	elf_file_close(&f);
	return rc;
}
