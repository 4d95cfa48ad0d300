/* SPDX-License-Identifier: MIT */
/*
 * x86-64 in ELF files: the machine's number and name, relocations (psABI, table 4.9).
 */
#ifndef ARCH_X86_64_ELF_ARCH_H
#define ARCH_X86_64_ELF_ARCH_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#define ARCH_ELF_MACHINE	EM_X86_64
#define ARCH_NAME		"x86-64"	/* as people call it */

#define ARCH_RELOC_RELATIVE	R_X86_64_RELATIVE
/* of thread-local variables: a module's number, a distance from the thread pointer, both */
#define ARCH_RELOC_TLS_MODULE	R_X86_64_DTPMOD64
#define ARCH_RELOC_TLS_DISTANCE	R_X86_64_TPOFF64
#define ARCH_RELOC_TLS_DESC	R_X86_64_TLSDESC

/* Is this a program of 32 bits that the same processor runs? */
static inline bool arch_elf_is_32bit(uint16_t machine, unsigned char class)
{
	return machine == EM_386 || (machine == EM_X86_64 && class == ELFCLASS32);
}

#endif
