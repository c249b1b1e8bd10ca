/* SPDX-License-Identifier: Apache-2.0 */
#include "image/bundle.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { JSON_MAX = 4 << 20, BLOCK = 65536 };

#if defined(__x86_64__)
#define ARCHITECTURE "amd64"
#elif defined(__aarch64__)
#define ARCHITECTURE "arm64"
#else
#define ARCHITECTURE "unknown"
#endif

static int no_image(const char *why, struct bj_err *err)
{
	return bj_err_set(
		err, BJ_E_INVALID, 0,
		"this is no image: %s; save one with `docker save`, `podman save` or as an "
		"OCI archive",
		why);
}

/* --- spreading out ---------------------------------------------------------------------------- */

static int spool_file(const struct bj_bundle *b, size_t member, int flags)
{
	char name[24];

	snprintf(name, sizeof(name), "%zu", member);
	return openat(b->spool, name, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static int spool_member(struct bj_bundle *b, const struct bj_archive_lib *lib, struct archive *a,
			uint64_t *left, struct bj_err *err)
{
	AUTO_FD int fd = spool_file(b, b->n_members, O_WRONLY | O_CREAT | O_EXCL);
	AUTO_FREE char *block = malloc(BLOCK);
	la_ssize_t n;
	uint64_t out = 0;

	if (fd < 0 || !block)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot spread an archive out");
	while ((n = lib->read_data(a, block, BLOCK)) > 0) {
		out += (uint64_t)n;
		if ((uint64_t)n > *left ||
		    bj_image_is_bomb((uint64_t)lib->filter_bytes(a, -1), out))
			return bj_err_set(err, BJ_E_LIMIT, 0,
					  "the archive is too large; see images.max_size");
		*left -= (uint64_t)n;

		const int r = bj_fd_write_all(fd, block, (size_t)n);

		if (r < 0)
			return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot spread an archive out");
	}
	return n < 0 ? no_image("it is damaged", err) : 0;
}

static const char *without_dots(const char *name)
{
	while (strncmp(name, "./", 2) == 0)
		name += 2;
	return name;
}

static int take_member(struct bj_bundle *b, const struct bj_archive_lib *lib, struct archive *a,
		       struct archive_entry *e, uint64_t *left, struct bj_err *err)
{
	const char *path = bj_archive_path(lib, e);
	const char *link = bj_archive_symlink(lib, e);
	struct bj_bundle_member *m = &b->members[b->n_members];

	if (!path || strlen(without_dots(path)) >= sizeof(m->name) ||
	    (link && strlen(link) >= sizeof(m->link)))
		return no_image("a member has no usable name", err);
	if (lib->type(e) != S_IFREG && lib->type(e) != S_IFLNK)
		return 0;
	if (b->n_members == BJ_BUNDLE_MEMBERS)
		return no_image("it has too many members", err);
	snprintf(m->name, sizeof(m->name), "%s", without_dots(path));
	snprintf(m->link, sizeof(m->link), "%s", link ? link : "");

	const int r = lib->type(e) == S_IFREG ? spool_member(b, lib, a, left, err) : 0;

	b->n_members++;
	return r;
}

static int spread(struct bj_bundle *b, const struct bj_archive_lib *lib, struct archive *a, int fd,
		  uint64_t left, struct bj_err *err)
{
	struct archive_entry *entry;
	int r;

	lib->format_tar(a);
	if (lib->open_fd(a, fd, BLOCK) != ARCHIVE_OK)
		return no_image("it is no tar archive", err);
	while ((r = lib->next_header(a, &entry)) == ARCHIVE_OK || r == ARCHIVE_WARN) {
		const int taken = take_member(b, lib, a, entry, &left, err);

		if (taken < 0)
			return taken;
	}
	return r == ARCHIVE_EOF ? 0 : no_image("it is no tar archive, or a damaged one", err);
}

/* --- members ---------------------------------------------------------------------------------- */

/* The place of the member @name; -1: there is none. The last of a name counts. */
static int find_member(const struct bj_bundle *b, const char *name)
{
	for (size_t i = b->n_members; i-- > 0;)
		if (strcmp(b->members[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* `docker save` writes a layer that occurs twice as "../ID/layer.tar". */
static int follow_member(const struct bj_bundle *b, const char *name)
{
	const int i = find_member(b, name);
	const char *link = i < 0 ? "" : b->members[i].link;

	if (!link[0])
		return i;

	const int to = strncmp(link, "../", 3) == 0 ? find_member(b, link + 3) : -1;

	return to >= 0 && !b->members[to].link[0] ? to : -1;
}

int bj_bundle_open(const struct bj_bundle *b, size_t member)
{
	return spool_file(b, member, O_RDONLY);
}

/* The member @name as JSON, NULL when it is not there or is none. @digest (may be NULL) gets its
 * hash. */
static json_t *read_json(const struct bj_bundle *b, const char *name, char digest[BJ_DIGEST_HEX])
{
	AUTO_BUF struct bj_buf text = { .max = JSON_MAX };
	const int i = follow_member(b, name);
	AUTO_FD int fd = i < 0 ? -1 : bj_bundle_open(b, (size_t)i);

	if (fd < 0 || bj_fd_read_all(fd, &text) < 0)
		return NULL;
	if (digest)
		bj_image_digest(text.data ? text.data : "", text.size, digest);
	return json_loadb(text.data ? text.data : "", text.size, 0, NULL);
}

static bool is_hex(const char *text)
{
	return strlen(text) == BJ_DIGEST_HEX - 1 &&
	       strspn(text, "0123456789abcdef") == BJ_DIGEST_HEX - 1;
}

/* The digits of "sha256:..."; NULL: it is something else. */
static const char *digits(const json_t *digest)
{
	const char *text = json_string_value(digest);

	return text && strncmp(text, "sha256:", 7) == 0 && is_hex(text + 7) ? text + 7 : NULL;
}

/* --- the config ------------------------------------------------------------------------------- */

static int take_diffs(struct bj_bundle *b, const json_t *config, struct bj_err *err)
{
	json_t *diffs = json_object_get(json_object_get(config, "rootfs"), "diff_ids");
	json_t *diff;
	size_t i;

	if (json_array_size(diffs) != b->n_layers)
		return no_image("its config and its layers do not agree", err);
	json_array_foreach(diffs, i, diff)
	{
		if (!digits(diff))
			return no_image("its config names layers by unknown digests", err);
		snprintf(b->diffs[i], sizeof(b->diffs[i]), "%s", digits(diff));
	}
	return 0;
}

static void take_path(struct bj_bundle *b, const json_t *config)
{
	json_t *env = json_object_get(json_object_get(config, "config"), "Env");
	json_t *item;
	size_t i;

	json_array_foreach(env, i, item)
	{
		const char *text = json_string_value(item);

		if (text && strncmp(text, "PATH=", 5) == 0 && strlen(text) < sizeof(b->path))
			snprintf(b->path, sizeof(b->path), "%s", text + 5);
	}
}

static int take_config(struct bj_bundle *b, const char *name, const char *want, struct bj_err *err)
{
	json_t *config = read_json(b, name, b->digest);
	const char *os = json_string_value(json_object_get(config, "os"));
	const char *arch = json_string_value(json_object_get(config, "architecture"));
	int r = 0;

	if (!config)
		r = no_image("its config cannot be read", err);
	else if (want && strcmp(want, b->digest) != 0)
		r = bj_err_set(err, BJ_E_INVALID, 0,
			       "the archive was changed: its config has another digest");
	else if (!os || !arch || strcmp(os, "linux") != 0 || strcmp(arch, ARCHITECTURE) != 0)
		r = bj_err_set(err, BJ_E_UNSUPPORTED, 0,
			       "the image is for %.30s/%.30s; this machine needs linux/%s",
			       os ? os : "?", arch ? arch : "?", ARCHITECTURE);
	if (r == 0)
		r = take_diffs(b, config, err);
	if (r == 0)
		take_path(b, config);
	json_decref(config);
	return r;
}

static int add_layer(struct bj_bundle *b, const char *name, struct bj_err *err)
{
	const int i = name ? follow_member(b, name) : -1;

	if (i < 0)
		return no_image("a layer is missing", err);
	if (b->n_layers == BJ_BUNDLE_LAYERS)
		return no_image("it has too many layers", err);
	b->layers[b->n_layers++] = (size_t)i;
	return 0;
}

/* --- docker save ------------------------------------------------------------------------------ */

/* The digest in a member's name ("HEX.json", "blobs/sha256/HEX"); NULL: it holds none. */
static const char *named_digest(const char *name, char ret[BJ_DIGEST_HEX])
{
	const char *slash = strrchr(name, '/');

	snprintf(ret, BJ_DIGEST_HEX, "%.64s", slash ? slash + 1 : name);
	return is_hex(ret) ? ret : NULL;
}

static int read_docker(struct bj_bundle *b, json_t *manifest, struct bj_err *err)
{
	json_t *image = json_array_get(manifest, 0);
	const char *config = json_string_value(json_object_get(image, "Config"));
	const char *tag = json_string_value(json_array_get(json_object_get(image, "RepoTags"), 0));
	json_t *layer;
	char hex[BJ_DIGEST_HEX];
	size_t i;
	int r = 0;

	if (json_array_size(manifest) != 1)
		return no_image("it holds several, or none", err);
	if (!config)
		return no_image("it names no config", err);
	json_array_foreach(json_object_get(image, "Layers"), i, layer)
	{
		r = add_layer(b, json_string_value(layer), err);
		if (r < 0)
			return r;
	}
	if (tag && strlen(tag) < sizeof(b->name))
		snprintf(b->name, sizeof(b->name), "%s", tag);
	return take_config(b, config, named_digest(config, hex), err);
}

/* --- OCI -------------------------------------------------------------------------------------- */

static json_t *read_blob(const struct bj_bundle *b, const char *hex, struct bj_err *err)
{
	char name[BJ_BUNDLE_NAME], found[BJ_DIGEST_HEX] = "";

	snprintf(name, sizeof(name), "blobs/sha256/%s", hex);

	json_t *blob = read_json(b, name, found);

	if (blob && strcmp(found, hex) == 0)
		return blob;
	json_decref(blob);
	if (found[0])
		bj_err_set(err, BJ_E_INVALID, 0,
			   "the archive was changed: a manifest has another digest");
	else
		no_image("a manifest is missing", err);
	return NULL;
}

/* The descriptor in an index that is for this machine: the only one, or the one that says so. */
static json_t *choose(json_t *index)
{
	json_t *list = json_object_get(index, "manifests");
	json_t *item;
	size_t i;

	if (json_array_size(list) == 1)
		return json_array_get(list, 0);
	json_array_foreach(list, i, item)
	{
		const char *os = NULL, *arch = NULL;

		json_unpack(item, "{s:{s:s, s:s}}", "platform", "os", &os, "architecture", &arch);
		if (os && arch && strcmp(os, "linux") == 0 && strcmp(arch, ARCHITECTURE) == 0)
			return item;
	}
	return NULL;
}

static int read_manifest(struct bj_bundle *b, json_t *manifest, struct bj_err *err)
{
	const char *config = digits(json_object_get(json_object_get(manifest, "config"), "digest"));
	json_t *layer;
	char name[BJ_BUNDLE_NAME];
	size_t i;

	if (!config)
		return no_image("its manifest names no config", err);
	json_array_foreach(json_object_get(manifest, "layers"), i, layer)
	{
		const char *hex = digits(json_object_get(layer, "digest"));

		snprintf(name, sizeof(name), "blobs/sha256/%s", hex ? hex : "");

		const int r = add_layer(b, name, err);

		if (r < 0)
			return r;
	}
	snprintf(name, sizeof(name), "blobs/sha256/%s", config);
	return take_config(b, name, config, err);
}

static int read_oci(struct bj_bundle *b, json_t *index, struct bj_err *err)
{
	json_t *chosen = choose(index);
	const char *name = json_string_value(json_object_get(json_object_get(chosen, "annotations"),
							     "org.opencontainers.image.ref.name"));
	const char *hex = digits(json_object_get(chosen, "digest"));

	if (!hex)
		return no_image("its index names none for this machine", err);
	if (name && strlen(name) < sizeof(b->name))
		snprintf(b->name, sizeof(b->name), "%s", name);

	json_t *blob = read_blob(b, hex, err);

	/* An index of an index: one for each machine. */
	if (blob && json_object_get(blob, "manifests")) {
		hex = digits(json_object_get(choose(blob), "digest"));

		json_t *inner = hex ? read_blob(b, hex, err) : NULL;

		if (!hex)
			no_image("its index names none for this machine", err);
		json_decref(blob);
		blob = inner;
	}

	const int r = blob ? read_manifest(b, blob, err) : -err->code;

	json_decref(blob);
	return r;
}

/* --- reading ---------------------------------------------------------------------------------- */

int bj_bundle_read(struct bj_bundle *b, const struct bj_archive_lib *lib, int fd, int spool,
		   uint64_t max_bytes, struct bj_err *err)
{
	struct archive *a = bj_archive_reader(lib);

	*b = (struct bj_bundle){ .spool = spool };
	b->members = calloc(BJ_BUNDLE_MEMBERS + 1, sizeof(*b->members));

	int r = a && b->members ? spread(b, lib, a, fd, max_bytes, err)
				: bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for an archive");

	if (a)
		lib->read_free(a);
	if (r < 0)
		return r;

	json_t *docker = read_json(b, "manifest.json", NULL);
	json_t *index = read_json(b, "index.json", NULL);

	r = docker  ? read_docker(b, docker, err)
	    : index ? read_oci(b, index, err)
		    : no_image("it has neither manifest.json nor index.json", err);
	json_decref(docker);
	json_decref(index);
	return r;
}

void bj_bundle_done(struct bj_bundle *b)
{
	free(b->members);
	b->members = NULL;
}
