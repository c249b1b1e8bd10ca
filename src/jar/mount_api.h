/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Thin helpers over the new mount API (open_tree, fsopen, move_mount, mount_setattr). */

/* A detached file system of @type. @options are "key=value" or "key", NULL-terminated. @attrs are
 * MOUNT_ATTR_*. Returns a mount descriptor. */
int bj_mount_new(const char *type, const char *const *options, uint64_t attrs, struct bj_err *err);

/* A detached copy of the tree at @path with @attrs set on all of it. A mount descriptor. */
int bj_mount_clone(int dir_fd, const char *path, uint64_t attrs, struct bj_err *err);

/* Attach the detached mount @mount_fd at @path below @dir_fd. */
int bj_mount_attach(int mount_fd, int dir_fd, const char *path, struct bj_err *err);

/* Write a small file. */
int bj_mount_write_file(int dir_fd, const char *path, const void *data, size_t size,
			unsigned int mode, struct bj_err *err);

/* Make @root, a mount, the root of this mount namespace, and drop all others. */
int bj_mount_pivot(int root, struct bj_err *err);
