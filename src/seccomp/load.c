/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/filters.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_sound(const struct bj_filter *filter)
{
	return filter->size > 0 && filter->size <= BJ_FILTER_MAX &&
	       filter->size % sizeof(struct sock_filter) == 0;
}

static int load(const void *code, size_t size)
{
	const struct sock_fprog program = {
		.len = (unsigned short)(size / sizeof(struct sock_filter)),
		.filter = (struct sock_filter *)code,
	};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}

int bj_filter_load(const struct bj_filter *filter)
{
	return is_sound(filter) ? load(filter->code, filter->size) : -EINVAL;
}

/* Load @custom but for what it says of the loading of filters: the floor is yet to come. A call of
 * another architecture that looks like this one dies in the floor. */
static int load_custom(const struct bj_filter *custom)
{
	static const struct sock_filter first[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	static unsigned char code[sizeof(first) + BJ_FILTER_MAX];

	_Static_assert(sizeof(first) == BJ_FILTER_ADDED * sizeof(*first), "as the header says");
	if (!is_sound(custom))
		return -EINVAL;
	memcpy(code, first, sizeof(first));
	memcpy(code + sizeof(first), custom->code, custom->size);
	return load(code, sizeof(first) + custom->size);
}

int bj_filter_seal(const struct bj_filter *custom)
{
	const int r = custom ? load_custom(custom) : 0;

	return r < 0 ? r : bj_filter_load(custom ? &bj_filter_floor : &bj_filter_jar);
}
