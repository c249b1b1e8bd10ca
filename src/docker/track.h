/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "docker/client.h"
#include "docker/container.h"

/* What a broker has alive, on disk, so that somebody else can clean up when it dies.
 *
 * One file a broker, named by its owner id and locked by it and its workers for as long as one of
 * them lives. A line "+name" is written before a container is created, "-name" when it is gone.
 * Whoever gets the lock of such a file knows that its owner is dead. */
struct bj_track {
	int dir; /* -1: none */
	char path[400];
	int fd;
	char owner[BJ_OWNER_ID];
};

/* @dir: the state directory; NULL: chosen by who runs belljar. */
int bj_track_open(struct bj_track *track, const char *dir, struct bj_err *err);

/* End: the file goes when nothing in it is alive. */
void bj_track_close(struct bj_track *track);

int bj_track_add(const struct bj_track *track, const char *name, struct bj_err *err);
void bj_track_drop(const struct bj_track *track, const char *name);

/* Keep @text in a file beside the track, which goes with it. @path is its name. */
int bj_track_keep(struct bj_track *track, const char *text, char *path, size_t size,
		  struct bj_err *err);

/* Remove what dead owners left. With @all also containers of anybody whose time is over by far.
 * Returns how many were removed, or negative when the engine does not answer. */
int bj_track_sweep(const struct bj_track *track, struct bj_docker *docker, bool all,
		   struct bj_err *err);

/* Whether a dead owner's file is there: cheap, asks no engine. */
bool bj_track_has_dead(const struct bj_track *track);
