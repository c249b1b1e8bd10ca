/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/settings.h"

/* The image of the native jar, found and pinned. */

/* What a launcher must know of the image; all empty for the host's own files. */
struct bj_pinned {
	char root[640]; /* path of its tree */
	char python[256], bash[256];
};

/* Replace the name in settings->image by name and digest, so that everything made from these
 * settings means the same bytes. -BJ_E_NOT_FOUND names the command that makes the image. */
int bj_pin_image(struct bj_settings *settings, struct bj_err *err);

/* Look up the image of @settings. */
int bj_pin_look(const struct bj_settings *settings, struct bj_pinned *ret, struct bj_err *err);

/* Whether @settings call for an image other than the host's own files. */
bool bj_pin_wanted(const struct bj_settings *settings);

/* Name and digest ("sha256:...") in a pinned setting, as copies that the caller frees; the digest
 * is NULL when there is none. */
void bj_pin_split(const char *image, char **ret_name, char **ret_digest);
