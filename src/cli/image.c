/* SPDX-License-Identifier: Apache-2.0 */

/* `belljar image`: the images of the native jar, and stand-ins for an engine without a registry. */

#include "base/cleanup.h"
#include "base/err.h"
#include "base/visible.h"
#include "cli/image_build.h"
#include "cli/load.h"
#include "image/store.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct bj_option OPTIONS[] = {
	{ .name = "name", .arg = "NAME", .help = "build, import: what the image is called" },
	{ .name = "with",
	  .arg = "MODULES",
	  .help = "build: also these Python modules, as Debian has them" },
	{ .name = "docker", .help = "build: stand-ins for the backend docker" },
	{ .name = "host",
	  .arg = "URL",
	  .key = "docker.host",
	  .help = "build --docker: the engine to make them in" },
	{ .name = "suite", .arg = "NAME", .help = "build: the Debian release to take; bookworm" },
	{ .name = "mirror", .arg = "URL", .help = "build: where its packages are" },
	{ .name = "json", .help = "print JSON" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ 0 },
};

enum { MAX_PLAIN = 64 };

struct request {
	const char *plain[MAX_PLAIN]; /* what to do, and with what */
	size_t n_plain;
	struct bj_build build;
	bool json;
};

/* --- parsing ---------------------------------------------------------------------------------- */

static int take(void *ctx, const struct bj_parse *p, struct bj_err *err)
{
	struct request *req = ctx;
	const struct {
		const char *name;
		const char **to;
	} texts[] = {
		{ "name", &req->build.name },
		{ "with", &req->build.with },
		{ "suite", &req->build.suite },
		{ "mirror", &req->build.mirror },
	};

	if (!p->option) {
		if (req->n_plain == MAX_PLAIN)
			return bj_err_set(err, BJ_E_INVALID, 0, "too many arguments");
		req->plain[req->n_plain++] = p->value;
		return 0;
	}
	req->build.docker |= strcmp(p->option->name, "docker") == 0;
	req->json |= strcmp(p->option->name, "json") == 0;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(texts); i++)
		if (strcmp(p->option->name, texts[i].name) == 0)
			*texts[i].to = p->value;
	return 0;
}

/* --- the words -------------------------------------------------------------------------------- */

static json_t *to_json(const struct bj_image_info *i)
{
	char digest[BJ_DIGEST_HEX + 8];

	snprintf(digest, sizeof(digest), "sha256:%s", i->digest);
	return json_pack("{s:s?, s:s, s:I, s:I, s:I, s:I, s:s?, s:s?}", "name",
			 i->name[0] ? i->name : NULL, "digest", digest, "size", (json_int_t)i->size,
			 "files", (json_int_t)i->files, "layers", (json_int_t)i->layers, "created",
			 (json_int_t)i->created, "python", i->python[0] ? i->python : NULL, "bash",
			 i->bash[0] ? i->bash : NULL);
}

static int print_json(json_t *value, struct bj_err *err)
{
	AUTO_FREE char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;

	json_decref(value);
	if (!text)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory");
	puts(text);
	return 0;
}

static int add_to_list(void *ctx, const struct bj_image_info *info)
{
	return json_array_append_new(ctx, to_json(info));
}

static int print_row(void *ctx, const struct bj_image_info *info)
{
	const time_t created = (time_t)info->created;
	char when[32] = "";
	struct tm tm;

	/* Programs stand where the maker of the archive says. */
	AUTO_FREE char *python = bj_visible_line(info->python[0] ? info->python : "-");
	AUTO_FREE char *bash = bj_visible_line(info->bash[0] ? info->bash : "-");

	(void)ctx;
	if (!python || !bash)
		return -BJ_E_SYSTEM;
	if (localtime_r(&created, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	printf("%-32s %.12s %7.1f MiB  %-16s %-22s %s\n", info->name[0] ? info->name : "-",
	       info->digest, (double)info->size / (1 << 20), when, python, bash);
	return 0;
}

static int list(const struct request *req, const struct bj_settings *s, struct bj_err *err)
{
	struct bj_images images = { .dir = -1 };
	json_t *all = json_array();
	int r = bj_images_open(&images, s->images_dir, s->state_dir, false, err);

	if (r >= 0 && req->json) {
		r = bj_images_each(&images, add_to_list, all, err);
		r = r < 0 ? r : print_json(json_incref(all), err);
	} else if (r >= 0) {
		printf("%-32s %-12s %11s  %-16s %-22s %s\n", "NAME", "DIGEST", "SIZE", "CREATED",
		       "PYTHON", "BASH");
		r = bj_images_each(&images, print_row, NULL, err);
	}
	json_decref(all);
	bj_images_close(&images);
	return r < 0 ? r : 0;
}

static int import(const struct request *req, const struct bj_settings *s, struct bj_err *err)
{
	const char *file = req->plain[1];
	const bool from_stdin = strcmp(file, "-") == 0;
	struct bj_images images = { .dir = -1 };
	struct bj_image_info info;
	uint64_t dropped = 0;
	AUTO_FD int archive = from_stdin ? dup(STDIN_FILENO) : open(file, O_RDONLY | O_CLOEXEC);

	if (archive < 0)
		return bj_err_set(err, BJ_E_NOT_FOUND, errno, "cannot open %.100s", file);

	const struct bj_image_source source = { .archive = archive,
						.name = req->build.name,
						.max_size = s->images_max_size,
						.max_files = s->images_max_files };
	int r = bj_images_open(&images, s->images_dir, s->state_dir, true, err);

	if (r == 0)
		r = bj_images_import(&images, &source, &info, &dropped, err);
	bj_images_close(&images);
	if (r < 0)
		return r;
	if (dropped)
		fprintf(stderr, "belljar: left out %llu devices, pipes and sockets\n",
			(unsigned long long)dropped);
	if (req->json)
		return print_json(to_json(&info), err);
	printf("%s is ready: run scripts with --image %s\n", info.name, info.name);
	return 0;
}

static int build(const struct request *req, const struct bj_settings *s, struct bj_err *err)
{
	static const char *const languages[] = {
		[BJ_LANG_PYTHON] = "python", [BJ_LANG_BASH] = "bash"
	};
	struct bj_build what = req->build;

	for (size_t i = 1; i < req->n_plain; i++) {
		bool known = false;

		for (size_t k = 0; what.docker && k < BJ_ARRAY_SIZE(languages); k++)
			if (strcmp(req->plain[i], languages[k]) == 0)
				known = what.wanted[k] = true;
		if (!known)
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "cannot build %.40s: say `belljar image build --docker "
					  "[python] [bash]` or `belljar image build --with numpy`",
					  req->plain[i]);
	}
	return bj_build_images(&what, s, err);
}

static int remove_all(const struct request *req, const struct bj_settings *s, struct bj_err *err)
{
	struct bj_images images = { .dir = -1 };
	int r = bj_images_open(&images, s->images_dir, s->state_dir, false, err);

	for (size_t i = 1; r >= 0 && i < req->n_plain; i++)
		r = bj_images_remove(&images, req->plain[i], err);
	bj_images_close(&images);
	return r < 0 ? r : 0;
}

static const struct {
	const char *word;
	size_t min, max; /* arguments behind it */
	int (*run)(const struct request *req, const struct bj_settings *s, struct bj_err *err);
} WORDS[] = {
	{ "ls", 0, 0, list },
	{ "import", 1, 1, import },
	{ "build", 0, 2, build },
	{ "rm", 1, MAX_PLAIN, remove_all },
};

static int dispatch(const struct request *req, const struct bj_settings *s, struct bj_err *err)
{
	const size_t n = req->n_plain ? req->n_plain - 1 : 0;

	for (size_t i = 0; req->n_plain && i < BJ_ARRAY_SIZE(WORDS); i++)
		if (strcmp(req->plain[0], WORDS[i].word) == 0 && n >= WORDS[i].min &&
		    n <= WORDS[i].max)
			return WORDS[i].run(req, s, err);
	return bj_err_set(err, BJ_E_INVALID, 0,
			  "say `belljar image ls`, `import FILE`, `build` or `rm NAME`");
}

static int verb_image(int argc, char **argv)
{
	struct request req = { 0 };
	struct bj_settings *settings = NULL;
	struct bj_err err = { 0 };
	int r = bj_load(argc, argv, OPTIONS, take, &req, &settings, &err);

	if (r == 0)
		r = dispatch(&req, settings, &err);
	bj_settings_free(settings);
	/* It may quote the archive. */
	AUTO_FREE char *why = r < 0 ? bj_visible_line(err.msg) : NULL;

	if (r < 0)
		fprintf(stderr, "belljar: %s\n", why ? why : "no memory");
	return r < 0 ? BJ_EXIT_FAILED : 0;
}

const struct bj_verb bj_verb_image = {
	.name = "image",
	.args = "ls|import FILE|build|rm NAME",
	.words = "ls import build rm",
	.summary = "keep images for the native jar, and stand-ins for the backend docker",
	.example = "  docker save python:3.11-slim | belljar image import -\n"
		   "  belljar image build --name data --with numpy,pandas\n"
		   "  belljar image ls\n"
		   "  belljar image rm data\n"
		   "  belljar image build --docker python",
	.options = OPTIONS,
	.run = verb_image,
};
