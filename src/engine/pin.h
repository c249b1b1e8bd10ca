/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/settings.h"

/* The image of the native jar, found and pinned. */

/* What the host's own files are called among images. */
#define BJ_PIN_HOST "host"

/* The settings know several images by their place: 0 is the setting image, the others are those of
 * images.allow in their order. */

/* What a launcher must know of an image; the rest is empty for the host's own files. */
struct bj_pinned {
	bool there;
	char root[640]; /* path of its tree */
	char python[256], bash[256];
};

/* Replace the names of images in @settings by name and digest, so that everything made from these
 * settings means the same bytes. -BJ_E_NOT_FOUND names the command that makes the setting image;
 * one of images.allow that is not there keeps its name alone. */
int bj_pin_images(struct bj_settings *settings, struct bj_err *err);

/* Whether two pinned settings mean the same images. */
bool bj_pin_same(const struct bj_settings *a, const struct bj_settings *b);

/* Watch the names of images of @settings: a descriptor (inotify) that is readable when they may
 * mean others, or -1 when the settings have none. */
int bj_pin_watch(const struct bj_settings *settings);

/* Look up the image at @place. */
int bj_pin_look(const struct bj_settings *settings, size_t place, struct bj_pinned *ret,
		struct bj_err *err);

/* What the settings have at @place, pinned or not; NULL: the host's own files, or no such place. */
const char *bj_pin_at(const struct bj_settings *settings, size_t place);

/* The place of the image that @text names: in full, without its digest, or by its digest alone.
 * NULL is place 0. -BJ_E_DENIED: the settings do not have it; -BJ_E_NOT_FOUND: they do, but it is
 * not there. */
int bj_pin_place(const struct bj_settings *settings, const char *text, struct bj_err *err);

/* Name and digest ("sha256:...") in a pinned setting, as copies that the caller frees; the digest
 * is NULL when there is none. */
void bj_pin_split(const char *image, char **ret_name, char **ret_digest);
