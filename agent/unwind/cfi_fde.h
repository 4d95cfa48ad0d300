/* SPDX-License-Identifier: MIT */
/* Finds the frame description of a pc in a module and takes it apart. */
#ifndef AGENT_UNWIND_CFI_FDE_H
#define AGENT_UNWIND_CFI_FDE_H

#include "agent/unwind/cfi.h"
#include "agent/unwind/cfi_cursor.h"

/* A frame description entry with what its common information entry says. */
struct cfi_fde {
	uint64_t start, end;		/* code covered: [start, end) */
	struct cursor initial;		/* the CIE's instructions */
	struct cursor program;		/* the FDE's own */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;		/* DW_EH_PE_* of code addresses */
	uint8_t signal;			/* augmentation 'S': describes a signal frame */
	uint8_t personality;		/* augmentation 'P': the language has a say */
	uint8_t sized;			/* augmentation 'z': the FDE has augmentation data */
};

/* The FDE that covers `pc`. Returns 1 found, 0 when there is none or it makes no sense. */
int cfi_fde_find(const struct cfi_module *m, uint64_t pc, struct cfi_fde *out);

/*
 * One value encoded as `encoding` (DW_EH_PE_*), not followed through memory when indirect. Sets
 * c->bad for encodings without a meaning here (textrel, funcrel).
 */
uint64_t cfi_encoded_read(struct cursor *c, uint8_t encoding, uint64_t data_base);

#endif
