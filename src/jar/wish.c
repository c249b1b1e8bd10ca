/* SPDX-License-Identifier: Apache-2.0 */

/* What the front wants of a run that is under way. */

#include "base/clock.h"
#include "base/fd.h"
#include "jar/jar.h"

#include <errno.h>
#include <sys/socket.h>

/* What the run uses now, for whoever watches it. */
static void send_sample(struct bj_jar *jar)
{
	struct bj_wire_reply sample = { .magic = BJ_WIRE_MAGIC, .kind = BJ_REPLY_SAMPLE };
	struct bj_cgroup_stats stats;

	if (!jar->cgroup || !jar->started || jar->samples == BJ_WIRE_SAMPLES_MAX)
		return;
	jar->samples++;
	bj_cgroup_read_stats(jar->cgroup, &stats);
	sample.duration_ns = bj_clock_now() - jar->started;
	sample.cpu_ns = stats.cpu_ns;
	sample.peak_memory = bj_cgroup_memory(jar->cgroup);
	bj_fd_send_now(jar->watch[BJ_JAR_EV_REPLY], &sample, sizeof(sample));
}

void bj_jar_handle_wish(struct bj_jar *jar)
{
	char wish = 0;
	const ssize_t n = recv(jar->watch[BJ_JAR_EV_REPLY], &wish, 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && wish == BJ_WISH_SAMPLE) {
		send_sample(jar);
		return;
	}
	jar->unwanted = true;
	bj_jar_kill(jar, wish == BJ_WISH_OUTPUT ? BJ_CAUSE_OUTPUT : BJ_CAUSE_CANCELLED);
	if (n <= 0)
		bj_jar_unwatch(jar, BJ_JAR_EV_REPLY); /* nobody is left to tell */
}
