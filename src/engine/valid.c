/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/valid.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "config/settings.h"

#include <fcntl.h>

/* Without what it was to read, or without a place for what it leaves, it would be another run. */
static int check_fd(int fd, const char *name, struct bj_err *err)
{
	if (fd < 0 || fcntl(fd, F_GETFD) >= 0)
		return 0;
	return bj_err_set(err, BJ_E_INVALID, 0, "%s %d is not open; -1 stands for none", name, fd);
}

int bj_valid_spec(const struct bj_spec *spec, struct bj_err *err)
{
	const struct {
		int fd;
		const char *name;
	} fds[] = { { spec->stdin_fd, "stdin_fd" },
		    { spec->out_dir_fd, "out_dir_fd" },
		    { spec->cancel_fd, "cancel_fd" } };
	int r = bj_settings_check_limits(&spec->limits, err);

	if (r == 0 && !spec->script)
		r = bj_err_set(err, BJ_E_INVALID, 0, "there is no script; set it in the spec");
	for (size_t i = 0; r == 0 && i < BJ_ARRAY_SIZE(fds); i++)
		r = check_fd(fds[i].fd, fds[i].name, err);
	return r;
}
