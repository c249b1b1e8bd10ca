/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "docker/client.h"

/* Images: whether there is one, where it comes from, what to do when it is missing. */

/* The stand-ins that `belljar image build --docker` makes, by enum bj_language. */
extern const char *const bj_image_standins[2];

/* 1 when the engine has @image, 0 when not, negative when it does not say. */
int bj_image_exists(struct bj_docker *docker, const char *image, struct bj_err *err);

/* Fetch @image from its registry. @note (NULL: nobody listens) is told how far it is. */
int bj_image_pull(struct bj_docker *docker, const char *image,
		  void (*note)(void *ctx, const char *text), void *ctx, struct bj_err *err);

/* The message for an image that is not there: the command that fixes it. */
int bj_image_missing(struct bj_docker *docker, const char *image, struct bj_err *err);

/* Make @image from the tar archive in the file @archive; @command is what it runs by itself. */
int bj_image_import(struct bj_docker *docker, const char *image, const char *command, int archive,
		    struct bj_err *err);
