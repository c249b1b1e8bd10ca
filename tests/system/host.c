/* SPDX-License-Identifier: Apache-2.0 */

/* A program that embeds libbelljar and has habits of its own: host MODE. It prints what it saw, and
 * tests/system/test_library.py judges it. */

#include <belljar.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct belljar *must_open(void)
{
	struct belljar *bj = NULL;
	struct bj_err err = { 0 };

	if (bj_open(NULL, &bj, &err) < 0) {
		fprintf(stderr, "host: %s\n", err.msg);
		exit(1);
	}
	return bj;
}

/* A host that is slow to take output: meanwhile the script goes on. */
static void dawdle(void *ctx, const struct bj_event *event)
{
	(void)ctx;
	if (event->kind == BJ_EV_STDOUT)
		usleep(30000);
}

/* Run @script with @stdin_fd and print its cause, exit code and output. */
static void run_and_print(struct belljar *bj, const char *script, int stdin_fd)
{
	struct bj_result *result = NULL;
	struct bj_spec spec;
	struct bj_err err = { 0 };

	bj_spec_init(bj, BJ_LANG_PYTHON, &spec);
	spec.script = script;
	spec.script_size = strlen(script);
	spec.stdin_fd = stdin_fd;
	spec.on_event = stdin_fd >= 0 ? dawdle : NULL;
	if (bj_run(bj, &spec, &result, &err) < 0) {
		fprintf(stderr, "host: %s\n", err.msg);
		exit(1);
	}
	printf("%d %d %s", result->cause, result->exit_code, result->out.data);
	bj_result_free(result);
}

/* The script ends while we still write to its input, which breaks. SIGPIPE has its default action
 * here. */
static void mode_sigpipe(void)
{
	struct belljar *bj = must_open();
	const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < 20; i++)
		run_and_print(bj,
			      "import os\n"
			      "for i in range(50): os.read(0, 65536)\n"
			      "os.write(1, b'read enough\\n')\n"
			      "os.close(0)\n",
			      zero);
	bj_close(bj);
}

static volatile sig_atomic_t reaped;

static void reap_all(int sig)
{
	const int saved = errno;

	(void)sig;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		reaped++;
	errno = saved;
}

static void mode_reaper(void)
{
	signal(SIGCHLD, reap_all);

	struct belljar *bj = must_open();

	run_and_print(bj, "print('reaped')", -1);
	bj_close(bj);
}

static void mode_ignore(void)
{
	signal(SIGCHLD, SIG_IGN);

	struct belljar *bj = must_open();

	run_and_print(bj, "print('ignored')", -1);
	bj_close(bj);
}

/* What a library must leave as it was. */
struct habits {
	int n_fds;
	sigset_t mask;
	void (*actions[NSIG])(int);
	mode_t umask;
	char cwd[4096];
	pid_t session;
};

static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	if (!dir)
		exit(1);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void look(struct habits *h)
{
	struct sigaction action;

	memset(h, 0, sizeof(*h));
	h->n_fds = count_fds();
	sigprocmask(SIG_SETMASK, NULL, &h->mask);
	for (int sig = 1; sig < NSIG; sig++)
		if (sigaction(sig, NULL, &action) == 0)
			h->actions[sig] = action.sa_handler;
	h->umask = umask(0);
	umask(h->umask);
	h->session = getsid(0);
	if (!getcwd(h->cwd, sizeof(h->cwd)))
		exit(1);
}

static void mode_habits(void)
{
	struct habits before, after;

	look(&before);

	struct belljar *bj = must_open();

	run_and_print(bj, "print('as before')", -1);
	bj_close(bj);
	look(&after);
	printf("%s\n", memcmp(&before, &after, sizeof(before)) == 0 ? "same" : "different");
	printf("%s\n", waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? "no child" : "a child");
}

static void nothing(int sig)
{
	(void)sig;
}

/* Print the process ids below us, ours first, and stay until we are killed. */
static void mode_stay(void)
{
	for (int sig = 1; sig < 32; sig++)
		signal(sig, nothing);

	struct belljar *bj = must_open();

	run_and_print(bj, "print('here')", -1);

	/* A copy of us that lives on and has everything open that we have. */
	const pid_t copy = fork();

	if (copy == 0)
		for (;;)
			pause();
	printf("%d %d\n", getpid(), copy);
	fflush(stdout);
	for (;;)
		pause();
}

static volatile bool stop;

static void *allocate(void *ctx)
{
	(void)ctx;
	while (!stop) {
		FILE *f = fopen("/proc/self/stat", "re");

		free(malloc(4000));
		if (f)
			fclose(f);
	}
	return NULL;
}

/* Open and close while other threads hold the locks of the C library again and again. */
static void mode_threads(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, allocate, NULL) != 0)
			exit(1);
	for (int i = 0; i < 15; i++) {
		struct belljar *bj = must_open();

		run_and_print(bj, "print('threads')", -1);
		bj_close(bj);
	}
	stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* Two handles do not know each other. */
static void mode_two(void)
{
	struct belljar *one = must_open(), *two = must_open();

	run_and_print(one, "print('one')", -1);
	bj_close(one);
	run_and_print(two, "print('two')", -1);
	bj_close(two);
}

/* After a word on standard input, sweep. */
static void mode_cleanup(void)
{
	struct belljar *bj = must_open();
	struct bj_err err = { 0 };

	run_and_print(bj, "print('open')", -1);
	fflush(stdout);
	getchar();
	printf("%d\n", bj_cleanup_all(bj, &err) > 0);
	printf("%d\n", bj_cleanup_all(bj, &err));
	run_and_print(bj, "print('still open')", -1);
	bj_close(bj);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {
		{ "sigpipe", mode_sigpipe }, { "reaper", mode_reaper },
		{ "ignore", mode_ignore },   { "habits", mode_habits },
		{ "stay", mode_stay },       { "threads", mode_threads },
		{ "two", mode_two },         { "cleanup", mode_cleanup },
	};

	for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(argv[1], modes[i].name) == 0) {
			modes[i].run();
			return 0;
		}
	return 2;
}
