/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "check/user_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Any bytes as a file of the user's rules: it is read, or refused with a sentence. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bj_user_rules *rules = NULL;
	struct bj_err err = { 0 };
	char path[64];
	AUTO_FD int fd = memfd_create("rules", MFD_CLOEXEC);

	if (fd < 0 || bj_fd_write_all(fd, data, size) < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (bj_user_rules_load(path, &rules, &err) < 0 && (!err.msg[0] || rules))
		abort();
	bj_user_rules_free(rules);
	return 0;
}
