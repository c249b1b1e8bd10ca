/* SPDX-License-Identifier: Apache-2.0 */

/* What the launcher hears of a script's system calls: the last one, and those that make sockets. */

#include "base/clock.h"
#include "jar/farewell.h"
#include "jar/jar.h"
#include "jar/layers.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/wait.h>

/* Whatever it was about: each takes us more time than a process that shares its memory takes to be
 * made and to end. */
static void count_call(struct bj_jar *jar)
{
	if (++jar->told < BJ_JAR_TOLD_MAX)
		return;
	epoll_ctl(jar->epoll, EPOLL_CTL_DEL, jar->watch[BJ_JAR_EV_LAST], NULL);
	jar->watched[BJ_JAR_EV_LAST] = false;
}

/* Hold the jar's network namespace if it is as it was: the script made no socket, under our own
 * filter and without the files that act on a network, and nothing is left of it but a process that
 * stands in its last call. */
static void hold_net(struct bj_jar *jar, const struct bj_jar_ground *ground)
{
	char path[48];

	if (!ground->nets || jar->networked || (jar->run.flags & BJ_WIRE_HAS_SECCOMP) ||
	    ground->proc == BJ_MOUNTS_PROC_COMPAT || bj_layer_faulty(BJ_LAYER_NET_NS))
		return;
	snprintf(path, sizeof(path), "/proc/%d/ns/net", jar->init_pid);
	jar->net_fd = open(path, O_RDONLY | O_CLOEXEC);
}

/* The script's process says that it ends. When nothing else is left of the script that is the end:
 * its process is never let on, and dies with the jar. Otherwise the call goes on, and the kernel
 * tells the rest. */
static void handle_end(struct bj_jar *jar, const struct bj_jar_ground *ground, int code,
		       uint64_t id)
{
	jar->exited = jar->phase == BJ_JAR_RUNNING && !jar->dying && jar->out_fd < 0;
	jar->reply.wait_status = W_EXITCODE(code, 0);
	jar->reply.duration_ns = bj_clock_now() - jar->started;
	if (jar->exited && bj_jar_reply_early(jar)) {
		/* Nobody waits for the rest: it must not be in the way of those who wait. */
		bj_jar_unwatch(jar, BJ_JAR_EV_REPLY);
		jar->phase = BJ_JAR_ENDING;
		jar->deadline = bj_clock_now() + BJ_JAR_LINGER_NS;
		hold_net(jar, ground);
		return;
	}
	jar->exited = false;
	bj_farewell_go_on(jar->watch[BJ_JAR_EV_LAST], id);
}

void bj_jar_handle_last(struct bj_jar *jar, const struct bj_jar_ground *ground)
{
	const int fd = jar->watch[BJ_JAR_EV_LAST];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t id = 0;
	int code = 0;

	/* To ask without a call that is there would be to wait for one. It was there, and a signal
	 * took it back: that woke us all the same. */
	if (poll(&p, 1, 0) != 1) {
		count_call(jar);
		return;
	}
	if (!(p.revents & POLLIN)) {
		bj_jar_unwatch(jar, BJ_JAR_EV_LAST); /* nobody is left to hear */
		return;
	}
	switch (bj_farewell_hear(fd, jar->main_pid, &code, &id)) {
	case BJ_FAREWELL_SOCKET:
		jar->networked = true;
		count_call(jar);
		break;
	case BJ_FAREWELL_LAST:
		handle_end(jar, ground, code, id);
		break;
	case BJ_FAREWELL_NONE:
		count_call(jar);
		break;
	}
}
