/* SPDX-License-Identifier: Apache-2.0 */
#include "seccomp/filters.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

int bj_filter_load(const struct bj_filter *filter)
{
	if (filter->size == 0 || filter->size > BJ_FILTER_MAX ||
	    filter->size % sizeof(struct sock_filter) != 0)
		return -EINVAL;

	const struct sock_fprog program = {
		.len = (unsigned short)(filter->size / sizeof(struct sock_filter)),
		.filter = (struct sock_filter *)filter->code,
	};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}

int bj_filter_seal(const struct bj_filter *custom)
{
	const int r = bj_filter_load(custom ? &bj_filter_floor : &bj_filter_jar);

	return r < 0 || !custom ? r : bj_filter_load(custom);
}
