/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/upload.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "docker/embed.h"
#include "docker/inside.h"
#include "docker/tar.h"
#include "jar/mounts.h"
#include "jar/pack.h"
#include "jar/wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Where the files go. */
struct place {
	int (*put)(struct place *place, const char *file, const void *data, size_t size,
		   struct bj_err *err);
	struct bj_buf *tar;
	const struct bj_share *share;
	const char *name;
};

static int put_into_tar(struct place *place, const char *file, const void *data, size_t size,
			struct bj_err *err)
{
	(void)err;
	bj_tar_file(place->tar, file, 0444, data, size);
	return 0;
}

static int put_into_share(struct place *place, const char *file, const void *data, size_t size,
			  struct bj_err *err)
{
	return bj_share_write(place->share, place->name, file, data, size, err);
}

/* --- the files -------------------------------------------------------------------------------- */

static int add_record(const struct bj_pack_record *rec, struct place *place, struct bj_buf *spec,
		      struct bj_err *err)
{
	char name[BJ_PACK_NAME_MAX + 32];

	if (rec->type != BJ_PACK_INPUT) {
		bj_pack_add(spec, rec->type, rec->name, rec->data, rec->size);
		return 0;
	}
	if (!bj_pack_name_ok(rec->name, strlen(rec->name)))
		return bj_err_set(err, BJ_E_INVALID, 0, "a file cannot be called %.60s", rec->name);
	snprintf(name, sizeof(name), "%s/%s", BJ_INSIDE_BELOW(BJ_INSIDE_INPUTS), rec->name);
	return place->put(place, name, rec->data, rec->size, err);
}

static int add_records(const void *pack, size_t size, struct place *place, struct bj_err *err)
{
	AUTO_BUF struct bj_buf spec = { .max = BJ_WIRE_SPEC_MAX };
	struct bj_pack_record rec;
	size_t pos = 0;
	int r;

	while ((r = bj_pack_next(pack, size, &pos, &rec)) > 0) {
		r = add_record(&rec, place, &spec, err);
		if (r < 0)
			return r;
	}
	bj_pack_add(&spec, BJ_PACK_END, "", "", 0);
	if (r < 0 || spec.failed)
		return bj_err_set(err, BJ_E_PROTOCOL, 0, "malformed spec");
	return place->put(place, BJ_INSIDE_BELOW(BJ_INSIDE_SPEC), spec.data, spec.size, err);
}

/* The bytes of a sealed file; the caller unmaps them. NULL: they cannot be read. */
static void *map_file(int fd, size_t *ret_size)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size == 0)
		return NULL;
	*ret_size = (size_t)st.st_size;

	void *data = mmap(NULL, *ret_size, PROT_READ, MAP_PRIVATE, fd, 0);

	return data == MAP_FAILED ? NULL : data;
}

static int add_script(const struct bj_upload *up, struct place *place, struct bj_err *err)
{
	size_t size = 0;
	void *text = map_file(up->script_fd, &size);

	if (!text)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read the script");

	const int r = place->put(place,
				 up->language == BJ_LANG_PYTHON ? BJ_SCRIPT_PYTHON : BJ_SCRIPT_BASH,
				 text, size, err);

	munmap(text, size);
	return r;
}

static int add_all(const struct bj_upload *up, struct place *place, struct bj_err *err)
{
	size_t size = 0;
	void *pack = map_file(up->spec_fd, &size);

	if (!pack)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read the spec");

	int r = add_script(up, place, err);

	if (r == 0)
		r = add_records(pack, size, place, err);
	munmap(pack, size);
	return r;
}

/* --- the two ways ----------------------------------------------------------------------------- */

int bj_upload_make(const struct bj_upload *up, struct bj_buf *ret_tar, struct bj_err *err)
{
	AUTO_BUF struct bj_buf tar = { .max = 2 * BJ_WIRE_SPEC_MAX };
	struct place place = { .put = put_into_tar, .tar = &tar };

	bj_tar_dir(&tar, BJ_INSIDE_BELOW(BJ_INSIDE_DIR), 0755);
	bj_tar_dir(&tar, BJ_INSIDE_BELOW(BJ_INSIDE_INPUTS), 0755);
	bj_tar_file(&tar, BJ_INSIDE_BELOW(BJ_INSIDE_HELPER), 0555, bj_embed_inside,
		    bj_embed_inside_size);

	const int r = add_all(up, &place, err);

	bj_tar_end(&tar);
	if (r < 0)
		return r;
	if (tar.failed)
		return bj_err_set(err, BJ_E_LIMIT, 0, "script and inputs are too large");
	*ret_tar = tar;
	tar = (struct bj_buf){ 0 };
	return 0;
}

int bj_upload_share(const struct bj_upload *up, const struct bj_share *share, const char *name,
		    struct bj_err *err)
{
	struct place place = { .put = put_into_share, .share = share, .name = name };

	return add_all(up, &place, err);
}
