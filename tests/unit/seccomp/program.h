/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "unit.h"

#include "seccomp/filters.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>

/* Filters read instruction by instruction, as the kernel reads them. */

#ifdef __x86_64__
enum { NATIVE = AUDIT_ARCH_X86_64 };
#else
enum { NATIVE = AUDIT_ARCH_AARCH64 };
#endif

static inline bool jumps(const struct sock_filter *op, uint32_t a)
{
	switch (BPF_OP(op->code)) {
	case BPF_JEQ:
		return a == op->k;
	case BPF_JGT:
		return a > op->k;
	case BPF_JGE:
		return a >= op->k;
	default:
		fail_msg("unexpected jump %#x", op->code);
		return false;
	}
}

/* What @filter answers to @data. Knows the instructions that libseccomp writes. */
static inline uint32_t answer(const struct bj_filter *filter, const struct seccomp_data *data)
{
	const struct sock_filter *code = filter->code;
	uint32_t a = 0;

	for (size_t i = 0; i < filter->size / sizeof(*code); i++) {
		const struct sock_filter *op = &code[i];

		if (op->code == (BPF_RET | BPF_K))
			return op->k;
		if (op->code == (BPF_LD | BPF_W | BPF_ABS))
			memcpy(&a, (const char *)data + op->k, sizeof(a));
		else if (op->code == (BPF_ALU | BPF_AND | BPF_K))
			a &= op->k;
		else if (op->code == (BPF_JMP | BPF_JA))
			i += op->k;
		else if (BPF_CLASS(op->code) == BPF_JMP)
			i += jumps(op, a) ? op->jt : op->jf;
		else
			fail_msg("unexpected instruction %#x", op->code);
	}
	fail_msg("the program has no end");
	return 0;
}

static inline uint32_t answer_to(const struct bj_filter *filter, uint32_t arch, int number)
{
	return answer(filter, &(struct seccomp_data){ .nr = number, .arch = arch });
}
