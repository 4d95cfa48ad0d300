/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF object in a process's memory that says anything at all: mapped here, and read as that of
 * any other process.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/entries/objects.h"

#define BYTES	8192u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void symbol(void *arg, const struct object_symbol *s)
{
	const struct object *object = arg;

	/* what is passed on lies in the object, and the name ends */
	if (s->address < object->start || s->address >= object->end || strlen(s->name) > BYTES)
		abort();
}

static void look(struct objects *o, const struct object *object)
{
	char name[16];

	if (object->start > object->end || object->end > 1ull << 47)
		abort();
	object_symbols(o, object, symbol, (void *)object);
	for (unsigned i = 0; i < 16; i++) {
		object_slot_name(o, object, object->start + BYTES / 16 * i, name, sizeof(name));
		if (strlen(name) >= sizeof(name))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct objects o;
	void *at;
	int fd;

	if (size > BYTES)
		return 0;
	fd = memfd_create("fuzzed", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, BYTES) || write(fd, data, size) != (ssize_t)size)
		abort();
	at = mmap(NULL, BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		abort();
	if (!objects_open(getpid(), &o, NULL))
		for (size_t i = 0; i < o.nr; i++)
			if (o.v[i].map_start == (uint64_t)at)
				look(&o, &o.v[i]);
	objects_close(&o);
	munmap(at, BYTES);
	return 0;
}
