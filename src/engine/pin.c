/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pin.h"

#include "base/buf.h"
#include "base/err.h"
#include "image/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool bj_pin_wanted(const struct bj_settings *s)
{
	return s->image && strcmp(s->image, "host") != 0;
}

static int find(const struct bj_settings *s, struct bj_images *images, struct bj_image_info *ret,
		struct bj_err *err)
{
	const int r = bj_images_open(images, s->images_dir, s->state_dir, false, err);

	return r < 0 ? r : bj_images_find(images, s->image, ret, err);
}

int bj_pin_image(struct bj_settings *s, struct bj_err *err)
{
	struct bj_images images = { .dir = -1 };
	struct bj_image_info info;
	struct bj_buf text = { 0 };

	if (!bj_pin_wanted(s))
		return 0;

	const int r = find(s, &images, &info, err);

	bj_images_close(&images);
	if (r < 0)
		return r;
	bj_buf_printf(&text, "%s%ssha256:%s", info.name, info.name[0] ? "@" : "", info.digest);

	char *pinned = bj_buf_take(&text);

	if (!pinned)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot keep the name of the image");
	free(s->image);
	s->image = pinned;
	return 0;
}

int bj_pin_look(const struct bj_settings *s, struct bj_pinned *ret, struct bj_err *err)
{
	struct bj_images images = { .dir = -1 };
	struct bj_image_info info;

	*ret = (struct bj_pinned){ 0 };
	if (!bj_pin_wanted(s))
		return 0;

	const int r = find(s, &images, &info, err);

	if (r == 0) {
		snprintf(ret->root, sizeof(ret->root), "%s/%s/root", images.path, info.digest);
		snprintf(ret->python, sizeof(ret->python), "%s", info.python);
		snprintf(ret->bash, sizeof(ret->bash), "%s", info.bash);
	}
	bj_images_close(&images);
	return r;
}

void bj_pin_split(const char *image, char **ret_name, char **ret_digest)
{
	const char *digest = strstr(image, "sha256:");
	const size_t n = digest ? (size_t)(digest - image) : strlen(image);

	*ret_name = n > 1 ? strndup(image, digest ? n - 1 : n) : NULL;
	*ret_digest = digest ? strdup(digest) : NULL;
}
