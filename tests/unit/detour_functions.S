/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tiny functions for test_detour_called.c: each uint64_t f(uint64_t a, uint64_t b), in a table with
 * its size and name.
 */

	.section .rodata.str1.1, "aMS", @progbits, 1
	.section .data.rel.ro, "aw"
	.globl detour_functions
	.p2align 3
detour_functions:

	.data
	.p2align 4
number:	.quad 0x1122334455667788, 0x99aabbccddeeff00
counter:
	.quad 0
pointer:
	.quad helper
	.text

/* What is called: makes its result of the arguments and of where it returns to. */
	.p2align 4
	.type helper, @function
helper:
	mov	(%rsp), %rax
	add	%rdi, %rax
	ret
	.size helper, . - helper

	.macro begin name
	.p2align 4, 0x90
	.type \name, @function
\name:
	.endm

	.macro end name
	.size \name, . - \name
.Lend_\name:
	.section .rodata.str1.1
.Lname_\name:
	.asciz "\name"
	.section .data.rel.ro
	.quad	\name, .Lend_\name - \name, .Lname_\name
	.text
	.endm

	begin prologue
	push	%rbp
	mov	%rsp, %rbp
	push	%rbx
	lea	(%rdi, %rsi, 2), %rax
	pop	%rbx
	pop	%rbp
	ret
	end prologue

	begin behind_endbr64
	endbr64
	lea	3(%rdi), %rax
	add	%rsi, %rax
	ret
	end behind_endbr64

	begin load_near
	mov	number(%rip), %rax
	add	%rdi, %rax
	ret
	end load_near

	begin address_near
	lea	number(%rip), %rax
	xor	%rdi, %rax
	ret
	end address_near

	begin compare_near_with_byte
	cmpb	$0x88, number(%rip)
	setne	%al
	movzbl	%al, %eax
	ret
	end compare_near_with_byte

	begin compare_near_with_word
	cmpl	$0x55667788, number(%rip)
	sete	%al
	movzbl	%al, %eax
	ret
	end compare_near_with_word

	begin add_near_locked
	lock incq counter(%rip)
	lock decq counter(%rip)
	mov	counter(%rip), %rax
	ret
	end add_near_locked

	begin vector_near
	movups	number(%rip), %xmm0
	movq	%xmm0, %rax
	ret
	end vector_near

	begin thread_near
	mov	%fs:0, %rax
	sub	%rdi, %rax
	ret
	end thread_near

	begin jump_short
	jmp	1f
	nop
	nop
	nop
	int3
1:	lea	(%rdi, %rsi), %rax
	ret
	end jump_short

	begin jump_long
	.byte	0xe9
	.long	1f - . - 4
	int3
1:	lea	7(%rdi, %rsi), %rax
	ret
	end jump_long

	begin jump_bnd
	.byte	0xf2, 0xe9
	.long	1f - . - 4
	int3
1:	lea	9(%rdi, %rsi), %rax
	ret
	end jump_bnd

	begin jump_through_pointer
	jmp	*pointer(%rip)
	end jump_through_pointer

	begin tail_call
	inc	%rdi
	jmp	helper
	end tail_call

	.irp condition, o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g
	begin jump_short_\condition
	cmp	%rsi, %rdi
	j\condition	1f
	mov	$1, %eax
	ret
1:	mov	$2, %eax
	ret
	end jump_short_\condition

	begin jump_long_\condition
	cmp	%rsi, %rdi
	j\condition	1f
	mov	$1, %eax
	ret
	.skip	200, 0x90
1:	mov	$2, %eax
	ret
	end jump_long_\condition
	.endr

	.irp branch, loop, loope, loopne, jrcxz, jecxz
	begin branch_\branch
	mov	%rdi, %rcx
	\branch	1f
	lea	1(%rcx), %rax
	ret
1:	lea	100(%rcx), %rax
	ret
	end branch_\branch
	.endr

	begin round_and_round
1:	dec	%dil
	jnz	1b
	mov	%rsi, %rax
	ret
	end round_and_round

	begin call_near
	sub	$8, %rsp
	call	helper
	add	$8, %rsp
	ret
	end call_near

	begin call_first
	call	helper
	mov	%rax, %rdx
	lea	(%rdx, %rsi), %rax
	ret
	end call_first

	begin call_through_pointer
	sub	$8, %rsp
	call	*pointer(%rip)
	add	$8, %rsp
	ret
	end call_through_pointer

	begin call_through_register
	push	%r12
	lea	helper(%rip), %r12
	call	*%r12
	pop	%r12
	ret
	end call_through_register

	begin call_through_register_moved
	mov	pointer(%rip), %rax
	nop
	call	*%rax
	ret
	end call_through_register_moved

	begin call_through_high_register_moved
	mov	%rdi, %rax
	mov	pointer(%rip), %r8
	call	*%r8
	ret
	end call_through_high_register_moved

	begin system_call
	push	$39
	pop	%rax
	syscall
	ret
	end system_call

	begin four_bytes_and_padding
	mov	%rdi, %rax
	ret
	end four_bytes_and_padding

	begin repeated_return
	xor	%eax, %eax
	rep ret
	end repeated_return

	begin long_immediate
	movabs	$0x123456789abcdef0, %rax
	add	%rdi, %rax
	ret
	end long_immediate

	begin many_small
	push	%rax
	pop	%rax
	push	%rdi
	pop	%rax
	inc	%rax
	ret
	end many_small

	.section .data.rel.ro
	.quad	0, 0, 0
	.section .note.GNU-stack, "", @progbits
