/* SPDX-License-Identifier: Apache-2.0 */
#include "record/owner.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>

static struct flock byte_lock(int64_t number, short type)
{
	return (struct flock){
		.l_type = type, .l_whence = SEEK_SET, .l_start = number, .l_len = 1
	};
}

/* Locks of an open file description: threads share them, and no close of another descriptor of the
 * same file drops them. */
static int take_number(int fd, int64_t *ret)
{
	uint64_t random = 0;

	for (int tries = 0; tries < 16; tries++) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -errno;

		const int64_t number = (int64_t)(random >> 2) + 1;
		struct flock lock = byte_lock(number, F_WRLCK);

		if (fcntl(fd, F_OFD_SETLK, &lock) == 0) {
			*ret = number;
			return 0;
		}
		if (errno != EAGAIN && errno != EACCES)
			return -errno;
	}
	return -EAGAIN;
}

int bj_owner_init(struct bj_owner *owner, int dir_fd, const char *name, struct bj_err *err)
{
	AUTO_FD int fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int64_t number = 0;

	*owner = (struct bj_owner){ .fd = -1 };
	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno,
				  "cannot write to the directory of records; set state_dir, or "
				  "record.enabled to false");

	const int r = take_number(fd, &number);

	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot lock the file of owners");
	*owner = (struct bj_owner){ .fd = bj_take_fd(&fd), .number = number };
	return 0;
}

void bj_owner_done(struct bj_owner *owner)
{
	if (owner->fd >= 0)
		close(owner->fd);
	owner->fd = -1;
}

bool bj_owner_lives(const struct bj_owner *owner, int64_t number)
{
	struct flock lock = byte_lock(number, F_WRLCK);

	if (number == owner->number)
		return true;
	/* What cannot be told counts as alive: a run under way must not be called dead. */
	return fcntl(owner->fd, F_OFD_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
}
