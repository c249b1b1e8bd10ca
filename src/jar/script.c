/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/script.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "jar/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

static int copy(int from, int to)
{
	struct stat st;
	off_t at = 0;

	if (fstat(from, &st) < 0)
		return -1;
	while (at < st.st_size) {
		const ssize_t n = sendfile(to, from, &at, (size_t)(st.st_size - at));

		if (n <= 0)
			return -1;
	}
	return 0;
}

int bj_script_put(int files_fd, int script_fd, enum bj_language language, uid_t uid,
		  struct bj_err *err)
{
	const char *name = language == BJ_LANG_PYTHON ? BJ_SCRIPT_PYTHON : BJ_SCRIPT_BASH;

	/* The file system belongs to the jar's user namespace, in which our own uid does not
	 * exist: nobody can own a file there as us. */
	setfsgid(uid);
	setfsuid(uid);
	AUTO_FD int fd =
		openat(files_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
	const int errnum = errno;
	setfsuid(geteuid());
	setfsgid(getegid());
	/* Any change of a uid hides /proc/self, and that of every child, whose maps we write. */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errnum, "cannot put the script in its jar");
	if (copy(script_fd, fd) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot write the script into its jar");
	return 0;
}
