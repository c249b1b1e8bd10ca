/* SPDX-License-Identifier: Apache-2.0 */

/* Packages of the distribution are unpacked into an archive by mmdebstrap; an engine imports it, or
 * our own store does. */

#include "cli/image_build.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "docker/image.h"
#include "image/store.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQUEST_MS = 600000, MAX_ARGS = 24 };

#define BASE    "base-files,bash,coreutils,dash"
#define PYTHON  "libpython3.11-stdlib,python3-minimal,python3.11-minimal,tzdata"
#define SHELL   "findutils,gawk,grep,sed,diffutils,gzip,tar,bc"
#define USUAL   "debian"
#define LONGEST 1024
#define MERGED  "/usr/share/mmdebstrap/hooks/merged-usr"

/* What goes into the stand-in of a language. */
static const struct {
	const char *language;
	const char *packages;
	const char *command; /* what the image runs when nothing else is said */
} STANDINS[] = {
	[BJ_LANG_PYTHON] = { "python", BASE "," PYTHON, "python3" },
	[BJ_LANG_BASH] = { "bash", BASE "," SHELL, "bash" },
};

/* --- packages --------------------------------------------------------------------------------- */

/* Add the packages of the modules in @with: numpy is python3-numpy. */
static int add_modules(const char *with, struct bj_buf *packages, struct bj_err *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.+-_";

	for (const char *at = with; at && *at;) {
		const size_t n = strcspn(at, ",");

		if (n == 0 || n > 60 || strspn(at, letters) != n || at[0] == '-')
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "cannot add %.60s: say --with numpy,pandas", at);
		bj_buf_puts(packages, ",python3-");
		for (size_t i = 0; i < n; i++)
			bj_buf_add(packages, at[i] == '_' ? "-" : &at[i], 1);
		at += n;
		at += *at == ',';
	}
	return 0;
}

/* Run mmdebstrap with its output on @archive. */
static int unpack(const struct bj_build *build, const char *packages, int archive,
		  struct bj_err *err)
{
	AUTO_FREE char *include = NULL;
	struct bj_buf text = { .max = LONGEST };

	bj_buf_printf(&text, "--include=%s", packages);
	include = bj_buf_take(&text);

	const char *argv[MAX_ARGS] = {
		"mmdebstrap",
		"--quiet",
		"--variant=extract",
		include,
		/* Nothing was configured: what two packages would have linked. */
		"--extract-hook=for f in \"$1\"/usr/lib/*/blas/libblas.so.3 "
		"\"$1\"/usr/lib/*/lapack/liblapack.so.3; do if [ -e \"$f\" ]; then "
		"d=${f%/*}; ln -sf \"${d##*/}/${f##*/}\" \"${d%/*}/\"; fi; done",
		/* Modules are compiled once, since a jar cannot write beside them. */
		"--extract-hook=if [ -x \"$1/usr/bin/python3\" ]; then chroot \"$1\" "
		"/usr/bin/python3 -m compileall -q -j 1 /usr/lib/python3.11 "
		"/usr/lib/python3/dist-packages >/dev/null || true; fi",
		/* Names for the two users that a script meets, and nothing to read that it needs
		 * not. */
		"--extract-hook=printf 'root:x:0:0::/:/bin/sh\\n"
		"nobody:x:65534:65534::/:/bin/sh\\n' > \"$1/etc/passwd\"",
		"--extract-hook=printf 'root:x:0:\\nnogroup:x:65534:\\n' > \"$1/etc/group\"",
		"--extract-hook=rm -rf \"$1/usr/share/doc\" \"$1/usr/share/man\" "
		"\"$1/usr/share/locale\" \"$1/usr/share/info\" \"$1/var/cache/apt\"",
		/* A runtime gives a tmpfs the mode of the directory that it covers. */
		"--extract-hook=mkdir -p \"$1/tmp\" \"$1/work\" \"$1/script\" "
		"\"$1/usr/local/bin\"; chmod 1777 \"$1/tmp\" \"$1/work\"",
		/* As every Debian of today is laid out: /bin is a link to /usr/bin. */
		access(MERGED, F_OK) == 0 ? "--hook-dir=" MERGED : "--quiet",
		"--format=tar",
		build->suite ? build->suite : "bookworm",
		"-",
		build->mirror,
		NULL,
	};
	posix_spawn_file_actions_t actions;
	pid_t pid = 0;
	int status = -1;

	if (!include)
		return bj_err_set(err, BJ_E_LIMIT, 0, "too many packages");
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

int bj_build_spool(void)
{
	const char *dir = getenv("TMPDIR");

	return open(dir && dir[0] ? dir : "/var/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
}

/* The archive of @packages and the modules asked for; its descriptor. */
static int make_archive(const struct bj_build *build, const char *packages, const char *image,
			struct bj_err *err)
{
	AUTO_BUF struct bj_buf all = { .max = LONGEST };
	AUTO_FD int archive = bj_build_spool();

	if (archive < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a temporary file");
	bj_buf_puts(&all, packages);

	int r = add_modules(build->with, &all, err);

	if (r == 0 && all.failed)
		r = bj_err_set(err, BJ_E_LIMIT, 0, "too many packages");
	if (r < 0)
		return r;
	fprintf(stderr, "belljar: unpacking packages for %s\n", image);
	r = unpack(build, all.data, archive, err);
	return r < 0 ? r : bj_take_fd(&archive);
}

/* --- for an engine ---------------------------------------------------------------------------- */

static int build_standin(const struct bj_build *build, struct bj_docker *docker, size_t which,
			 struct bj_err *err)
{
	const char *image = bj_image_standins[which];
	AUTO_FD int archive = make_archive(build, STANDINS[which].packages, image, err);

	if (archive < 0)
		return archive;
	fprintf(stderr, "belljar: importing %s\n", image);

	const int r = bj_image_import(docker, image, STANDINS[which].command, archive, err);

	if (r == 0)
		printf("%s is ready: set docker.%s_image: %s\n", image, STANDINS[which].language,
		       image);
	return r;
}

static int build_docker(const struct bj_build *build, const struct bj_settings *s,
			struct bj_err *err)
{
	const bool all = !build->wanted[BJ_LANG_PYTHON] && !build->wanted[BJ_LANG_BASH];
	struct bj_docker docker = { 0 };
	int r = bj_docker_open(&docker, s->docker_host, REQUEST_MS, err);

	for (size_t i = 0; r == 0 && i < BJ_ARRAY_SIZE(STANDINS); i++)
		if (all || build->wanted[i])
			r = build_standin(build, &docker, i, err);
	bj_docker_done(&docker);
	return r;
}

/* --- for the native jar ----------------------------------------------------------------------- */

static int build_native(const struct bj_build *build, const struct bj_settings *s,
			struct bj_err *err)
{
	const char *name = build->name ? build->name : USUAL;
	struct bj_images images = { .dir = -1 };
	struct bj_image_info info;
	char full[BJ_IMAGE_NAME];
	uint64_t dropped = 0;
	int r = bj_image_name(name, full, err);

	if (r == 0)
		r = bj_images_open(&images, s->images_dir, s->state_dir, true, err);
	if (r < 0)
		return r;
	AUTO_FD int archive = make_archive(build, BASE "," PYTHON "," SHELL, name, err);
	const struct bj_image_source source = { .archive = archive,
						.name = name,
						.rootfs = true,
						.max_size = s->images_max_size,
						.max_files = s->images_max_files };

	r = archive < 0 ? archive : bj_images_import(&images, &source, &info, &dropped, err);
	bj_images_close(&images);
	if (r == 0)
		printf("%s is ready: run scripts with --image %s\n", info.name, name);
	return r;
}

int bj_build_images(const struct bj_build *build, const struct bj_settings *settings,
		    struct bj_err *err)
{
	return build->docker ? build_docker(build, settings, err)
			     : build_native(build, settings, err);
}
