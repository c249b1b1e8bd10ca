/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/process.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>

struct bj_process {
	int control;
	pid_t pid; /* 0: somebody else's child */
	const char *name;
	pthread_mutex_t lock; /* over hello */
	bool greeted;
	struct bj_wire_reply hello;
};

static struct bj_process *new_handle(const char *name)
{
	struct bj_process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->name = name;
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

static void free_handle(struct bj_process *p)
{
	pthread_mutex_destroy(&p->lock);
	free(p);
}

int bj_process_new(const char *name, void (*body)(int control, void *self), void *self,
		   struct bj_process **ret, struct bj_err *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a socket pair");
	AUTO_FD int ours = pair[0];
	AUTO_FD int theirs = pair[1];
	struct bj_process *p = new_handle(name);
	if (!p)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot start the %s", name);
	p->pid = fork();
	if (p->pid == 0) {
		body(theirs, self);
		_exit(1);
	}
	if (p->pid < 0) {
		const int errnum = errno;

		free_handle(p);
		return bj_err_set(err, BJ_E_SYSTEM, errnum, "cannot start the %s", name);
	}
	/* It has the longer way to go. */
	sched_yield();
	p->control = bj_take_fd(&ours);
	*ret = p;
	return 0;
}

int bj_process_release(struct bj_process *p, pid_t *ret_pid)
{
	const int control = p->control;

	*ret_pid = p->pid;
	free_handle(p);
	return control;
}

int bj_process_adopt(const char *name, int control_take, struct bj_process **ret,
		     struct bj_err *err)
{
	struct bj_process *p = new_handle(name);

	if (!p) {
		close(control_take);
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot hold the %s", name);
	}
	p->control = control_take;
	*ret = p;
	return 0;
}

static int read_hello(struct bj_process *p, struct bj_err *err)
{
	size_t n_fds;
	int fd;
	const ssize_t n = bj_fd_recv(p->control, &p->hello, sizeof(p->hello), &fd, 0, &n_fds, 0);

	if (n != sizeof(p->hello) || p->hello.magic != BJ_WIRE_MAGIC)
		return bj_err_set(err, BJ_E_SYSTEM, n < 0 ? (int)-n : 0,
				  "the %s died before it was up; run `belljar doctor`", p->name);
	if (p->hello.err.code)
		bj_err_received(&p->hello.err);
	p->greeted = true;
	return 0;
}

int bj_process_ready(struct bj_process *p, unsigned int *ret_swept, struct bj_err *err)
{
	pthread_mutex_lock(&p->lock);

	const int r = p->greeted ? 0 : read_hello(p, err);

	pthread_mutex_unlock(&p->lock);
	if (r < 0)
		return r;
	if (p->hello.err.code) {
		if (err)
			*err = p->hello.err;
		return -p->hello.err.code;
	}
	if (ret_swept)
		*ret_swept = p->hello.swept;
	return 0;
}

unsigned int bj_process_places(const struct bj_process *p)
{
	return p->hello.places;
}

int bj_process_socket(const struct bj_process *p)
{
	return p->control;
}

const char *bj_process_name(const struct bj_process *p)
{
	return p->name;
}

void bj_process_leave(struct bj_process *p)
{
	if (!p)
		return;
	/* Whoever waits for us expects his cgroup as it was. */
	if (p->greeted && p->hello.aside) {
		bj_process_free(p);
		return;
	}
	close(p->control);
	free_handle(p);
}

void bj_process_free(struct bj_process *p)
{
	if (!p)
		return;
	close(p->control);
	while (p->pid > 0 && waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free_handle(p);
}
