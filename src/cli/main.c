/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/nearest.h"
#include "check/check.h"
#include "cli/leave.h"
#include "cli/options.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct bj_verb *const bj_verbs[] = {
	&bj_verb_run,   &bj_verb_serve,      &bj_verb_ps,     &bj_verb_kill,    &bj_verb_top,
	&bj_verb_check, &bj_verb_rules,      &bj_verb_doctor, &bj_verb_config,  &bj_verb_gc,
	&bj_verb_image, &bj_verb_completion, &bj_verb_audit,  &bj_verb_tenant,  &bj_verb_key,
	&bj_verb_usage, &bj_verb_tools,      &bj_verb_tool,   &bj_verb_mcp,     &bj_verb_history,
	&bj_verb_show,  &bj_verb_rerun,      &bj_verb_diff,   &bj_verb_approve, &bj_verb_deny,
	NULL,
};

static const struct bj_verb *find_verb(const char *name)
{
	for (size_t i = 0; bj_verbs[i]; i++)
		if (strcmp(bj_verbs[i]->name, name) == 0)
			return bj_verbs[i];
	return NULL;
}

static void print_help(void)
{
	printf("usage: belljar VERB [OPTIONS]\n\n"
	       "Run a Python or Bash script sealed off from the machine.\n\nverbs:\n");
	for (size_t i = 0; bj_verbs[i]; i++)
		printf("  %-12s %s\n", bj_verbs[i]->name, bj_verbs[i]->summary);
	printf("\n`belljar VERB --help` shows the options of a verb with an example.\n");
}

static int unknown_verb(const char *name)
{
	const char *names[BJ_ARRAY_SIZE(bj_verbs)];
	size_t n = 0;

	for (size_t i = 0; bj_verbs[i]; i++)
		names[n++] = bj_verbs[i]->name;

	const char *near = bj_nearest(name, names, n);

	if (near)
		fprintf(stderr, "belljar: unknown verb %.40s; did you mean %s?\n", name, near);
	else
		fprintf(stderr, "belljar: unknown verb %.40s; `belljar --help` lists them\n", name);
	return BJ_EXIT_FAILED;
}

/* A flag where the verb belongs. */
static int unknown_flag(const char *flag)
{
	static const char *const flags[] = { "--help", "--version" };
	const char *near = bj_nearest(flag, flags, BJ_ARRAY_SIZE(flags));

	if (near)
		fprintf(stderr, "belljar: unknown option %.40s; did you mean %s?\n", flag, near);
	else
		fprintf(stderr,
			"belljar: unknown option %.40s; a verb comes first, and `belljar --help` "
			"lists them\n",
			flag);
	return BJ_EXIT_FAILED;
}

static bool asks_for_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

/* A program that is started with closed streams gets their numbers for the next things it opens,
 * and would print into them. Hold the numbers with descriptors that do nothing. */
static void hold_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_PATH | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* What a verb printed may not have arrived: a full disk is no success. Text that was lost on the
 * way is known to ferror() alone. */
static int printed(int status)
{
	if ((fflush(stdout) != 0 || ferror(stdout)) && status == 0) {
		fprintf(stderr, "belljar: cannot write to standard output\n");
		return BJ_EXIT_FAILED;
	}
	return status;
}

int main(int argc, char **argv)
{
	hold_streams();
	/* A file that may not grow (ulimit -f) is an error that can be told, not our end. */
	signal(SIGXFSZ, SIG_IGN);
	bj_check_keep_memory();
	if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    (strcmp(argv[1], "help") == 0 && argc == 2)) {
		print_help();
		return printed(argc < 2 ? BJ_EXIT_FAILED : 0);
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
		printf("belljar %s\n", bj_version());
		return printed(0);
	}

	/* `belljar help VERB` is `belljar VERB --help`. */
	const bool help = strcmp(argv[1], "help") == 0;
	const char *name = argv[help ? 2 : 1];
	const struct bj_verb *verb = find_verb(name);

	if (!verb)
		return name[0] == '-' ? unknown_flag(name) : unknown_verb(name);
	if (help || asks_for_help(argc - 1, argv + 1)) {
		bj_options_help(verb);
		return printed(0);
	}

	const int status = printed(verb->run(argc - 1, argv + 1));

	if (verb->brief)
		bj_leave_memory();
	return status;
}
