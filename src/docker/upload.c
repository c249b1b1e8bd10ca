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

/* Paths in the archive start below /script. */
static const char *below(const char *path)
{
	return path + strlen("/script/");
}

static int add_record(const struct bj_pack_record *rec, struct bj_buf *tar, struct bj_buf *spec,
		      struct bj_err *err)
{
	char name[BJ_PACK_NAME_MAX + 32];

	if (rec->type == BJ_PACK_INPUT && !bj_pack_name_ok(rec->name, strlen(rec->name)))
		return bj_err_set(err, BJ_E_INVALID, 0, "a file cannot be called %.60s", rec->name);
	snprintf(name, sizeof(name), "%s/%s", below(BJ_INSIDE_INPUTS), rec->name);
	if (rec->type == BJ_PACK_INPUT)
		bj_tar_file(tar, name, 0444, rec->data, rec->size);
	else
		bj_pack_add(spec, rec->type, rec->name, rec->data, rec->size);
	return 0;
}

static int add_records(const void *pack, size_t size, struct bj_buf *tar, struct bj_err *err)
{
	AUTO_BUF struct bj_buf spec = { .max = BJ_WIRE_SPEC_MAX };
	struct bj_pack_record rec;
	size_t pos = 0;
	int r;

	while ((r = bj_pack_next(pack, size, &pos, &rec)) > 0) {
		r = add_record(&rec, tar, &spec, err);
		if (r < 0)
			return r;
	}
	bj_pack_add(&spec, BJ_PACK_END, "", "", 0);
	bj_tar_file(tar, below(BJ_INSIDE_SPEC), 0444, spec.data, spec.size);
	if (r < 0 || spec.failed)
		return bj_err_set(err, BJ_E_PROTOCOL, 0, "malformed spec");
	return 0;
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

static int add_script(int fd, enum bj_language language, struct bj_buf *tar, struct bj_err *err)
{
	size_t size = 0;
	void *text = map_file(fd, &size);

	if (!text)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read the script");
	bj_tar_file(tar, language == BJ_LANG_PYTHON ? BJ_SCRIPT_PYTHON : BJ_SCRIPT_BASH, 0444, text,
		    size);
	munmap(text, size);
	return 0;
}

int bj_upload_make(int script_fd, enum bj_language language, int spec_fd, struct bj_buf *ret_tar,
		   struct bj_err *err)
{
	AUTO_BUF struct bj_buf tar = { .max = 2 * BJ_WIRE_SPEC_MAX };
	size_t size = 0;
	void *pack = map_file(spec_fd, &size);

	if (!pack)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read the spec");
	bj_tar_dir(&tar, below(BJ_INSIDE_DIR), 0755);
	bj_tar_dir(&tar, below(BJ_INSIDE_INPUTS), 0755);
	bj_tar_file(&tar, below(BJ_INSIDE_HELPER), 0555, bj_embed_inside, bj_embed_inside_size);

	int r = add_script(script_fd, language, &tar, err);

	if (r == 0)
		r = add_records(pack, size, &tar, err);
	munmap(pack, size);
	bj_tar_end(&tar);
	if (r < 0)
		return r;
	if (tar.failed)
		return bj_err_set(err, BJ_E_LIMIT, 0, "script and inputs are too large");
	*ret_tar = tar;
	tar = (struct bj_buf){ 0 };
	return 0;
}
