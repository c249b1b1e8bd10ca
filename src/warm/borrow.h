/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/sys.h"

#include <stdint.h>

/* A child that borrows our memory instead of copying it, as vfork(2) gives, but with a cgroup to be
 * born in. We stand still until it has ended or executed something. It must not return from the
 * function that called this. What it forks itself has a copy of its own and may.
 *
 * 0 in the child, its pid in the caller, or -1. */
#ifdef __x86_64__
/* The child's calls write over our stack below this frame, return address included: so that one is
 * kept in a register. */
__attribute__((returns_twice)) long bj_borrow_call(struct clone_args *args, size_t size);
__asm__(".pushsection .text\n"
	".local bj_borrow_call\n"
	".type bj_borrow_call, @function\n"
	"bj_borrow_call:\n"
	"	endbr64\n"
	"	popq %rdx\n"
	"	movl $435, %eax\n" /* clone3 */
	"	syscall\n"
	"	pushq %rdx\n"
	"	ret\n"
	".size bj_borrow_call, . - bj_borrow_call\n"
	".popsection\n");
#define BJ_BORROW_FLAGS (CLONE_VM | CLONE_VFORK)
#else
static inline long bj_borrow_call(struct clone_args *args, size_t size)
{
	return syscall(SYS_clone3, args, size);
}
#define BJ_BORROW_FLAGS 0 /* a copy does as well, and costs a millisecond */
#endif
