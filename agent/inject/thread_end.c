/* SPDX-License-Identifier: MIT */
/*
 * Releases that glibc's allocator makes at the end of a thread on its own behalf.
 *
 * A thread's cache (2.26 to 2.41) holds blocks that the program has freed. When the thread ends,
 * tcache_thread_shutdown() (malloc/malloc.c) gives each to free() itself, and at last the cache,
 * which no allocation function returned. No block of the program's is among them. That function has
 * no symbol in a stripped library, and compilers expand it in its caller. But only in there a call
 * goes directly to free(), not by the PLT as other calls from the library do, and a byte in
 * thread-local storage is set to 1 (tcache_shutting_down). In a static program, where all calls are
 * direct, the second and that it is near free() are what tells: all of malloc.c is one object file.
 *
 * What was found of a return address stays so: true is only what is in the allocator's own object,
 * which is never unloaded.
 */
#include "agent/inject/thread_end.h"

#include "agent/agent.h"
#include "agent/sys.h"
#include "agent/unwind/cfi_fde.h"
#include "agent/unwind/module.h"
#include "arch/inject_arch.h"

#define NR_KNOWN	64u		/* return addresses; a power of two */
#define CHUNK		128u
#define FUNCTION_MAX	4096u		/* bytes; glibc's has some 300 */
#define NEAR		32768u		/* all of malloc.c, static or shared, is nearer to free() */

static uint64_t known[NR_KNOWN];	/* return address << 1 | answer */

/* Does the function at [at, end) release at several places, and set such a byte? */
static bool empties_cache(uint64_t at, uint64_t end, uint64_t free)
{
	uint8_t code[CHUNK + ARCH_INSN_MAX];
	unsigned nr_free = 0;
	bool sets = false;

	if (end - at > FUNCTION_MAX)
		return false;
	for (; at < end; at += CHUNK) {
		uint64_t nr = end - at < sizeof(code) ? end - at : sizeof(code);

		for (unsigned i = 0; i < sizeof(code); i++)
			code[i] = 0;
		if (!module_copy(code, at, nr))
			return false;
		for (unsigned i = 0; i < CHUNK; i++) {
			nr_free += arch_goes_to(code + i, at + i, free);
			sets |= arch_sets_thread_byte(code + i);
		}
	}
	return nr_free >= 2 && sets;
}

static bool find(uint64_t ra, uint64_t free)
{
	uint8_t call[ARCH_CALL_BYTES];
	struct module_at m;
	struct cfi_fde fde;

	return module_copy(call, ra - sizeof(call), sizeof(call)) &&
	       arch_goes_to(call, ra - sizeof(call), free) && module_find(ra - 1, &m) &&
	       m.cfi.hdr && cfi_fde_find(&m.cfi, ra - 1, &fde) &&
	       empties_cache(fde.start, fde.end, free);
}

bool thread_end_releases(uint64_t ra, uint64_t free)
{
	uint64_t *k = &known[(ra ^ ra >> 6) & (NR_KNOWN - 1)], was = LOAD(*k);

	if (likely(ra - free + NEAR >= 2 * NEAR))
		return false;		/* the program's, and most of the library's */
	if (was >> 1 != ra) {
		was = ra << 1 | find(ra, free);
		STORE(*k, was);
	}
	return was & 1;
}
