/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a symbolizer is made of: shared by lookup (symbolizer.c) and its disk cache (answers.c).
 */
#ifndef SYMBOL_SYMBOLIZER_H
#define SYMBOL_SYMBOLIZER_H

#include "src/base/arena.h"
#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/symbol/object.h"
#include "src/symbol/symbol.h"
#include "src/symbol/symcache.h"

/* Frames of one ELF address, innermost first. */
struct answer {
	uint64_t address;
	uint32_t first;			/* in symbolizer.frames */
	uint32_t nr_frames;
};

/* An object file and the answers found in it. Modules that are the same file share it. */
struct symbol_object {
	struct object object;
	const char *basename;		/* for unnamed frames */
	const char *build_id_text;
	VEC(struct answer) answers;
	struct hash_map by_address;	/* ELF address -> index into answers */
	size_t nr_saved;		/* answers that are in the cache on disk */
	bool cache_tried;
	struct symcache cache;
	struct symcache_source source;	/* the files that answers come from, as first seen */
};

struct symbol_slot {
	uint64_t bias, start, end;
	struct symbol_object *object;	/* NULL: placeholder */
};

struct symbolizer {
	struct object_options options;
	char *cache_dir;		/* NULL: no cache */
	VEC(struct symbol_slot) modules;
	VEC(struct symbol_object *) objects;
	VEC(struct symbol_frame) frames;
	/* for symbol_lookup(): too large for a stack */
	struct symbol_frame found[SYMBOL_FRAMES_MAX];
	struct arena arena;
	struct intern strings;
	uint64_t strings_bytes;
	uint64_t held_bytes;		/* see struct object_options */
	uint64_t link_bytes;		/* see struct debug_search */
	struct debug_server server;	/* likewise */
	int error;			/* symbolizer_error() */
	/* number of a linkage name -> number of its readable form */
	struct hash_map demangled;
};

/* Write the answers of an object that are not on disk yet. 0 or -errno. */
int symbol_answers_save(struct symbolizer *sym, struct symbol_object *o);

/*
 * Read the object's answers from disk if they are about the files that are there now. Opens the
 * object.
 */
void symbol_answers_load(struct symbolizer *sym, struct symbol_object *o);

/* The kept answer to an ELF address into frames (SYMBOL_FRAMES_MAX): their number, 0 = none. */
int symbol_answers_find(const struct symbol_object *o, uint64_t address,
			struct symbol_frame *frames);

#endif
