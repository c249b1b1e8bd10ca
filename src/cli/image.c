/* SPDX-License-Identifier: Apache-2.0 */

/* `belljar image`: make the images that the backend docker runs in where no registry can be
 * reached. Packages of the distribution are unpacked into an archive, and the engine imports it. */

#include "docker/image.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "cli/options.h"
#include "config/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

enum { REQUEST_MS = 600000, MAX_ARGS = 24 };

static const struct bj_option OPTIONS[] = {
	{ .name = "docker", .help = "make images for the backend docker" },
	{ .name = "host",
	  .arg = "URL",
	  .key = "docker.host",
	  .help = "the engine to make them in" },
	{ .name = "suite", .arg = "NAME", .help = "the Debian release to take; bookworm" },
	{ .name = "mirror", .arg = "URL", .help = "where its packages are" },
	{ .name = "config", .letter = 'c', .arg = "FILE", .help = "read this settings file" },
	{ 0 },
};

/* What goes into the stand-in of a language. */
static const struct {
	const char *language;
	const char *packages;
	const char *command; /* what the image runs when nothing else is said */
} STANDINS[] = {
	[BJ_LANG_PYTHON] = { "python",
			     "--include=base-files,bash,coreutils,dash,libpython3.11-stdlib,"
			     "python3-minimal,python3.11-minimal,tzdata",
			     "python3" },
	[BJ_LANG_BASH] = { "bash",
			   "--include=base-files,bash,coreutils,dash,findutils,gawk,grep,sed,"
			   "diffutils,gzip,tar,bc",
			   "bash" },
};

struct request {
	bool build, docker;
	bool wanted[2];
	const char *suite, *mirror, *config;
	struct bj_override override;
	size_t n_overrides;
};

/* --- parsing ---------------------------------------------------------------------------------- */

static int take_plain(struct request *req, const char *word, struct bj_err *err)
{
	if (!req->build && strcmp(word, "build") == 0) {
		req->build = true;
		return 0;
	}
	for (size_t i = 0; req->build && i < BJ_ARRAY_SIZE(STANDINS); i++)
		if (strcmp(word, STANDINS[i].language) == 0) {
			req->wanted[i] = true;
			return 0;
		}
	return bj_err_set(err, BJ_E_INVALID, 0,
			  "cannot do %.40s: say `belljar image build --docker [python] [bash]`",
			  word);
}

static int parse(int argc, char **argv, struct request *ret, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, OPTIONS, err)) > 0) {
		if (!p.option)
			r = take_plain(ret, p.value, err);
		else if (p.option->key)
			ret->override = (struct bj_override){ p.option->key, p.value, "host" },
			ret->n_overrides = 1;
		else if (strcmp(p.option->name, "docker") == 0)
			ret->docker = true;
		else if (strcmp(p.option->name, "suite") == 0)
			ret->suite = p.value;
		else if (strcmp(p.option->name, "mirror") == 0)
			ret->mirror = p.value;
		else
			ret->config = p.value;
		if (r < 0)
			return r;
	}
	if (r == 0 && (!ret->build || !ret->docker))
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "say `belljar image build --docker [python] [bash]`");
	if (!ret->wanted[BJ_LANG_PYTHON] && !ret->wanted[BJ_LANG_BASH])
		ret->wanted[BJ_LANG_PYTHON] = ret->wanted[BJ_LANG_BASH] = true;
	return r;
}

/* --- making ----------------------------------------------------------------------------------- */

/* Run mmdebstrap with its output on @archive. */
static int unpack(const struct request *req, size_t which, int archive, struct bj_err *err)
{
	const char *argv[MAX_ARGS] = {
		"mmdebstrap",
		"--quiet",
		"--variant=extract",
		STANDINS[which].packages,
		/* Names for the two users that a script meets, and nothing to read that it needs
		 * not. */
		"--customize-hook=printf 'root:x:0:0::/:/bin/sh\\n"
		"nobody:x:65534:65534::/:/bin/sh\\n' > \"$1/etc/passwd\"",
		"--customize-hook=printf 'root:x:0:\\nnogroup:x:65534:\\n' > \"$1/etc/group\"",
		"--customize-hook=rm -rf \"$1/usr/share/doc\" \"$1/usr/share/man\" "
		"\"$1/usr/share/locale\" \"$1/usr/share/info\" \"$1/var/cache/apt\"",
		"--customize-hook=mkdir -p \"$1/tmp\" \"$1/work\" \"$1/script\" "
		"\"$1/usr/local/bin\"",
		"--format=tar",
		req->suite ? req->suite : "bookworm",
		"-",
		req->mirror,
		NULL,
	};
	posix_spawn_file_actions_t actions;
	pid_t pid = 0;
	int status = -1;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, archive, STDOUT_FILENO);
	/* It hands descriptors to a shell that knows only those of one digit. */
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);

	const int r = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);

	posix_spawn_file_actions_destroy(&actions);
	if (r != 0)
		return bj_err_set(err, BJ_E_NOT_FOUND, r,
				  "cannot run mmdebstrap; install the package mmdebstrap");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status != 0)
		return bj_err_set(err, BJ_E_SYSTEM, 0,
				  "mmdebstrap could not unpack the packages (see above)");
	return 0;
}

static int build(const struct request *req, struct bj_docker *docker, size_t which,
		 struct bj_err *err)
{
	const char *dir = getenv("TMPDIR");
	AUTO_FD int archive =
		open(dir && dir[0] ? dir : "/var/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (archive < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a temporary file");
	fprintf(stderr, "belljar: unpacking packages for %s\n", bj_image_standins[which]);

	const int r = unpack(req, which, archive, err);

	if (r < 0)
		return r;
	fprintf(stderr, "belljar: importing %s\n", bj_image_standins[which]);
	return bj_image_import(docker, bj_image_standins[which], STANDINS[which].command, archive,
			       err);
}

static int build_all(const struct request *req, const char *host, struct bj_err *err)
{
	struct bj_docker docker = { 0 };
	int r = bj_docker_open(&docker, host, REQUEST_MS, err);

	for (size_t i = 0; r == 0 && i < BJ_ARRAY_SIZE(STANDINS); i++) {
		if (!req->wanted[i])
			continue;
		r = build(req, &docker, i, err);
		if (r == 0)
			printf("%s is ready: set docker.%s_image: %s\n", bj_image_standins[i],
			       STANDINS[i].language, bj_image_standins[i]);
	}
	bj_docker_done(&docker);
	return r;
}

static int verb_image(int argc, char **argv)
{
	struct request req = { 0 };
	struct bj_settings *settings = NULL;
	struct bj_err err = { 0 };
	int r = parse(argc, argv, &req, &err);

	if (r == 0)
		r = bj_settings_load(req.config, &req.override, req.n_overrides, &settings, &err);
	if (r == 0)
		r = build_all(&req, settings->docker_host, &err);
	bj_settings_free(settings);
	if (r < 0)
		fprintf(stderr, "belljar: %s\n", err.msg);
	return r < 0 ? BJ_EXIT_FAILED : 0;
}

const struct bj_verb bj_verb_image = {
	.name = "image",
	.args = "build --docker [python] [bash]",
	.summary = "make images for the backend docker without a registry",
	.example = "  belljar image build --docker\n"
		   "  belljar image build --docker python",
	.options = OPTIONS,
	.run = verb_image,
};
