/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/image.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { PULL_MS = 600000 };

const char *const bj_image_standins[2] = {
	[BJ_LANG_PYTHON] = "belljar/python:3.11",
	[BJ_LANG_BASH] = "belljar/bash:5.2",
};

int bj_image_exists(struct bj_docker *docker, const char *image, struct bj_err *err)
{
	char path[320];

	snprintf(path, sizeof(path), "/images/%.255s/json", image);

	const struct bj_docker_call call = { .method = "GET", .path = path };
	const int status = bj_docker_do(docker, &call, NULL, err);

	return status < 0 ? status : status == 200;
}

/* A pull or an import answers 200 at once and reports trouble in its stream, as objects with an
 * error. */
static int stream_failed(const struct bj_buf *body, const char *what, const char *image,
			 struct bj_err *err)
{
	const char *at = body->data ? body->data : "";
	const char *end = at + body->size;
	int r = 0;

	while (at < end && r == 0) {
		json_error_t where;
		json_t *line = json_loadb(at, (size_t)(end - at), JSON_DISABLE_EOF_CHECK, &where);
		const char *text = json_string_value(json_object_get(line, "error"));

		if (text)
			r = bj_err_set(err, BJ_E_NOT_FOUND, 0, "cannot %s %.80s: %.100s", what,
				       image, text);
		if (!line)
			break;
		json_decref(line);
		at += where.position;
	}
	return r;
}

struct progress {
	const char *image;
	void (*note)(void *ctx, const char *text);
	void *ctx;
	size_t seen; /* bytes of the answer that were counted */
	unsigned int layers, done;
};

/* Count the layers in the lines that have come. */
static void watch_pull(void *ctx, const struct bj_buf *so_far)
{
	struct progress *p = ctx;
	const unsigned int before = p->done + p->layers;
	const char *end;
	char text[200];

	while ((end = memchr(so_far->data + p->seen, '\n', so_far->size - p->seen))) {
		const char *line = so_far->data + p->seen;
		const size_t n = (size_t)(end - line);

		p->layers += memmem(line, n, "Pulling fs layer", 16) ||
			     memmem(line, n, "Already exists", 14);
		p->done += memmem(line, n, "Pull complete", 13) ||
			   memmem(line, n, "Already exists", 14);
		p->seen += n + 1;
	}
	if (p->done + p->layers == before)
		return;
	snprintf(text, sizeof(text), "pulling %.100s: %u of %u layers", p->image, p->done,
		 p->layers);
	p->note(p->ctx, text);
}

int bj_image_pull(struct bj_docker *docker, const char *image,
		  void (*note)(void *ctx, const char *text), void *ctx, struct bj_err *err)
{
	struct progress progress = { .image = image, .note = note, .ctx = ctx };
	AUTO_BUF struct bj_buf body = { 0 };
	const char *slash = strrchr(image, '/');
	const char *colon = strrchr(slash ? slash : image, ':');
	char path[400];

	snprintf(path, sizeof(path), "/images/create?fromImage=%.255s%s", image,
		 colon || strchr(image, '@') ? "" : "&tag=latest");

	const struct bj_docker_call call = {
		.method = "POST",
		.path = path,
		.body = "",
		.timeout_ms = PULL_MS,
		.watch = note ? watch_pull : NULL,
		.watch_ctx = &progress,
	};
	char text[200];

	snprintf(text, sizeof(text), "pulling %.150s", image);
	if (note)
		note(ctx, text);

	const int status = bj_docker_do(docker, &call, &body, err);

	if (status < 0)
		return status;
	if (status != 200) {
		bj_docker_refused("pull the image", status, &body, err);
		if (err)
			err->code = BJ_E_NOT_FOUND;
		return -BJ_E_NOT_FOUND;
	}
	return stream_failed(&body, "pull", image, err);
}

int bj_image_missing(struct bj_docker *docker, const char *image, struct bj_err *err)
{
	static const struct {
		const char *wanted, *setting;
	} defaults[] = {
		[BJ_LANG_PYTHON] = { "python:3.11-slim", "docker.python_image" },
		[BJ_LANG_BASH] = { "bash:5.2-alpine", "docker.bash_image" },
	};

	for (size_t i = 0; i < BJ_ARRAY_SIZE(defaults); i++) {
		if (strcmp(image, defaults[i].wanted) != 0)
			continue;

		const bool have = bj_image_exists(docker, bj_image_standins[i], NULL) == 1;

		return bj_err_set(err, BJ_E_NOT_FOUND, 0,
				  "the Docker engine has no image %s; run `docker pull %s`, or %s"
				  "set %s: %s",
				  image, image, have ? "" : "`belljar image build --docker` and ",
				  defaults[i].setting, bj_image_standins[i]);
	}
	return bj_err_set(err, BJ_E_NOT_FOUND, 0,
			  "the Docker engine has no image %.60s; run `docker pull %.60s`", image,
			  image);
}

int bj_image_import(struct bj_docker *docker, const char *image, const char *command, int archive,
		    struct bj_err *err)
{
	AUTO_BUF struct bj_buf body = { 0 };
	const char *colon = strrchr(image, ':');
	struct stat st;
	char path[400];

	if (fstat(archive, &st) < 0 || st.st_size == 0)
		return bj_err_set(err, BJ_E_INVALID, errno, "the archive is empty");

	void *tar = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, archive, 0);

	if (tar == MAP_FAILED)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read the archive");
	/* changes=CMD ["..."], escaped */
	snprintf(path, sizeof(path),
		 "/images/create?fromSrc=-&repo=%.*s&tag=%s&changes=CMD%%20%%5B%%22%s%%22%%5D",
		 (int)(colon - image), image, colon + 1, command);

	const struct bj_docker_call call = { .method = "POST",
					     .path = path,
					     .body = tar,
					     .size = (size_t)st.st_size,
					     .type = "application/x-tar" };
	const int status = bj_docker_do(docker, &call, &body, err);

	munmap(tar, (size_t)st.st_size);
	if (status < 0)
		return status;
	if (status != 200)
		return bj_docker_refused("import the image", status, &body, err);
	return stream_failed(&body, "import", image, err);
}
