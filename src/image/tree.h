/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <sys/types.h>
#include <time.h>

/* A file tree that is written from the names in a foreign archive. Every path is walked one
 * component at a time from the root's descriptor, links are never followed, and nothing is written
 * into what exists: an old entry is removed first. So no name, link or order of entries reaches
 * anything outside.
 *
 * Ownership is not kept, nor are set-id bits, attributes and devices: all a jar does with the tree
 * is read it. */

enum {
	BJ_TREE_DEPTH = 64,  /* components of a path */
	BJ_TREE_PATH = 4096, /* bytes of a path, and of a link's target */
	BJ_TREE_NAME = 255,  /* bytes of a component */
};

struct bj_tree_limits {
	uint64_t bytes; /* of all files together, holes counted */
	uint64_t files; /* entries of any kind */
};

struct bj_tree {
	int root; /* borrowed */
	struct bj_tree_limits limits;
	uint64_t bytes, files;
	uint64_t dropped; /* devices, pipes and sockets that were left out */
};

/* Make what @path names; parents that are missing are made too. A path that is absolute, has
 * `..`, is too long or too deep, or leads through a link is -BJ_E_INVALID; over a limit is
 * -BJ_E_LIMIT. */
int bj_tree_dir(struct bj_tree *tree, const char *path, struct bj_err *err);
int bj_tree_symlink(struct bj_tree *tree, const char *path, const char *target, struct bj_err *err);
/* @target is a path in the tree and must be a regular file there. */
int bj_tree_hardlink(struct bj_tree *tree, const char *path, const char *target,
		     struct bj_err *err);
/* A new empty file for @size bytes: its descriptor, which the caller closes. */
int bj_tree_file(struct bj_tree *tree, const char *path, uint64_t size, bool executable,
		 struct bj_err *err);

/* Remove @path and all below it; what is not there is gone already. Whether @path is the name of a
 * whiteout ("a/.wh.b" removes a/b, "a/.wh..wh..opq" empties a) is told by bj_tree_whiteout(): 1
 * when it was one and has been done, 0 when it is an ordinary name. */
int bj_tree_whiteout(struct bj_tree *tree, const char *path, struct bj_err *err);
bool bj_tree_is_whiteout(const char *path);

/* Remove the entry @name of the directory @dir_fd and all below it. 0 or negative. */
int bj_tree_remove(int dir_fd, const char *name, struct bj_err *err);

/* Look at every entry of a finished tree: only directories, regular files and links without
 * set-id bits are allowed. Gives all of it to @uid and @gid unless they are -1. */
int bj_tree_settle(int root, uid_t uid, gid_t gid, struct bj_err *err);
