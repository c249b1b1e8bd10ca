/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Cleanup attributes. Every AUTO_ variable is initialised where it is declared. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void bj_cleanup_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void bj_cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void bj_cleanup_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void bj_cleanup_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define AUTO_FD   __attribute__((cleanup(bj_cleanup_fd)))
#define AUTO_FREE __attribute__((cleanup(bj_cleanup_free)))
#define AUTO_FILE __attribute__((cleanup(bj_cleanup_file)))
#define AUTO_DIR  __attribute__((cleanup(bj_cleanup_dir)))

/* Hand an AUTO_FD or AUTO_FREE value on to a new owner. */
static inline int bj_take_fd(int *fd)
{
	const int v = *fd;

	*fd = -1;
	return v;
}

#define BJ_TAKE_PTR(p)                                                                             \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})

#define BJ_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
