/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/settings.h"

#include <sys/types.h>

/* The state directory: what belljar keeps between runs. It holds one folder for each kind of thing
 * (records, artifacts, audit). Who runs belljar owns it, mode 0700, files 0600. A service that root
 * starts opens what it needs before it gives up its rights; only the folders in which it must make
 * files later belong to the user it becomes, and to the group root. */

enum { BJ_FOLDER_PATH = 512 };

#define BJ_FOLDER_ARTIFACTS "artifacts/executions"

/* Where it is: the setting state_dir, else /var/lib/belljar for root, $XDG_STATE_HOME/belljar or
 * ~/.local/state/belljar for others. */
int bj_folder_path(const struct bj_settings *settings, char path[BJ_FOLDER_PATH],
		   struct bj_err *err);

/* Open the folder @name of it, made when it is missing. The descriptor, or a negated code. With
 * @ret_path (BJ_FOLDER_PATH bytes; NULL: not wanted) also its path. */
int bj_folder_open(const struct bj_settings *settings, const char *name, char *ret_path,
		   struct bj_err *err);

/* Hand the folder @name, with all that is in it, to the user @uid: for a process that is root and
 * whose child will not be. */
int bj_folder_give(const struct bj_settings *settings, const char *name, uid_t uid,
		   struct bj_err *err);

/* The mode of a new file or folder in @dir_fd, so that those who share the folder can read it. */
mode_t bj_folder_mode(int dir_fd, bool folder);
