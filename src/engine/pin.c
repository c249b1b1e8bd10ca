/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pin.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "image/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

static bool is_host(const char *image)
{
	return !image || strcmp(image, BJ_PIN_HOST) == 0;
}

const char *bj_pin_at(const struct bj_settings *s, size_t place)
{
	const char *image = place == 0                   ? s->image
			    : place <= s->images_allow.n ? s->images_allow.items[place - 1]
							 : NULL;

	return is_host(image) ? NULL : image;
}

static int find(const struct bj_settings *s, const char *name, struct bj_images *images,
		struct bj_image_info *ret, struct bj_err *err)
{
	const int r = bj_images_open(images, s->images_dir, s->state_dir, false, err);

	return r < 0 ? r : bj_images_find(images, name, ret, err);
}

/* Replace *@name by name and digest. */
static int pin(const struct bj_settings *s, char **name, struct bj_err *err)
{
	struct bj_images images = { .dir = -1 };
	struct bj_image_info info;
	struct bj_buf text = { 0 };

	if (is_host(*name))
		return 0;

	const int r = find(s, *name, &images, &info, err);

	bj_images_close(&images);
	if (r < 0)
		return r;
	bj_buf_printf(&text, "%s%ssha256:%s", info.name, info.name[0] ? "@" : "", info.digest);

	char *pinned = bj_buf_take(&text);

	if (!pinned)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot keep the name of the image");
	free(*name);
	*name = pinned;
	return 0;
}

int bj_pin_images(struct bj_settings *s, struct bj_err *err)
{
	struct bj_err missing;
	int r = pin(s, &s->image, err);

	for (size_t i = 0; r == 0 && i < s->images_allow.n; i++) {
		r = pin(s, &s->images_allow.items[i], &missing);
		if (r == -BJ_E_NOT_FOUND)
			r = 0;
		else if (r < 0)
			*err = missing;
	}
	return r;
}

bool bj_pin_same(const struct bj_settings *a, const struct bj_settings *b)
{
	for (size_t i = 0; i <= BJ_IMAGES_ALLOWED; i++) {
		const char *one = bj_pin_at(a, i), *other = bj_pin_at(b, i);

		if (!one != !other || (one && strcmp(one, other) != 0))
			return false;
	}
	return a->images_allow.n == b->images_allow.n;
}

int bj_pin_watch(const struct bj_settings *s)
{
	struct bj_images images = { .dir = -1 };
	struct bj_err err;

	if ((!bj_pin_at(s, 0) && s->images_allow.n == 0) ||
	    bj_images_open(&images, s->images_dir, s->state_dir, true, &err) < 0)
		return -1;

	/* The index is written aside and renamed. */
	AUTO_FD int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	const int watch = fd < 0 ? -1 : inotify_add_watch(fd, images.path, IN_MOVED_TO);

	bj_images_close(&images);
	return watch < 0 ? -1 : bj_take_fd(&fd);
}

int bj_pin_look(const struct bj_settings *s, size_t place, struct bj_pinned *ret,
		struct bj_err *err)
{
	const char *image = bj_pin_at(s, place);
	struct bj_images images = { .dir = -1 };
	struct bj_image_info info;

	*ret = (struct bj_pinned){ .there = place <= s->images_allow.n };
	if (!image)
		return 0;

	const int r = find(s, image, &images, &info, err);

	ret->there = r == 0;
	if (r == 0) {
		snprintf(ret->root, sizeof(ret->root), "%s/%s/root", images.path, info.digest);
		snprintf(ret->python, sizeof(ret->python), "%s", info.python);
		snprintf(ret->bash, sizeof(ret->bash), "%s", info.bash);
	}
	bj_images_close(&images);
	return place > 0 && r == -BJ_E_NOT_FOUND ? 0 : r;
}

/* Whether @text names the image that the settings call @have. */
static bool names(const char *text, const char *have)
{
	const char *digest = strstr(have, "sha256:");
	char asked[BJ_IMAGE_NAME], known[BJ_IMAGE_NAME];
	struct bj_err err;

	if (strcmp(text, have) == 0 || (digest && strcmp(text, digest) == 0))
		return true;
	if (bj_image_name(text, asked, &err) < 0)
		return false;
	snprintf(known, sizeof(known), "%.*s", (int)strcspn(have, "@"), have);
	return strcmp(asked, known) == 0 ||
	       (bj_image_name(have, known, &err) == 0 && strcmp(asked, known) == 0);
}

/* Whether @text is pinned to other bytes than the settings have under the same name. */
static bool is_older(const char *text, const char *have)
{
	const size_t n = strcspn(text, "@");

	return text[n] == '@' && strncmp(text, have, n) == 0 && have[n] == '@';
}

int bj_pin_place(const struct bj_settings *s, const char *text, struct bj_err *err)
{
	bool older = false;

	if (!text)
		return 0;
	for (size_t i = 0; i <= s->images_allow.n; i++) {
		const char *have = bj_pin_at(s, i);

		older = older || (have && is_older(text, have));
		if (!names(text, have ? have : BJ_PIN_HOST))
			continue;
		if (i > 0 && have && !strstr(have, "sha256:"))
			return bj_err_set(err, BJ_E_NOT_FOUND, 0, "there is no image %.60s now",
					  text);
		return (int)i;
	}
	if (older)
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "the image %.*s is another one now; ask again",
				  (int)strcspn(text, "@"), text);
	return bj_err_set(err, BJ_E_DENIED, 0,
			  "only images of the settings image and images.allow can be asked for");
}

void bj_pin_split(const char *image, char **ret_name, char **ret_digest)
{
	const char *digest = strstr(image, "sha256:");
	const size_t n = digest ? (size_t)(digest - image) : strlen(image);

	*ret_name = n > 1 ? strndup(image, digest ? n - 1 : n) : NULL;
	*ret_digest = digest ? strdup(digest) : NULL;
}
