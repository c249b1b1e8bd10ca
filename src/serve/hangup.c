/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/hangup.h"

#include "base/cleanup.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

struct bj_hangup {
	atomic_uint refs;
	int event;
	int epoll;
	int client; /* -1: none */
	atomic_bool loose;
};

static int watch(int epoll, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev);
}

struct bj_hangup *bj_hangup_new(int client)
{
	AUTO_FD int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	AUTO_FD int epoll = epoll_create1(EPOLL_CLOEXEC);
	AUTO_FREE struct bj_hangup *h = calloc(1, sizeof(*h));

	if (!h || event < 0 || epoll < 0 || watch(epoll, event, EPOLLIN) < 0)
		return NULL;
	/* A client that shuts down its writing side has hung up: over TCP the two look the same. */
	if (client >= 0 && watch(epoll, client, EPOLLRDHUP) < 0)
		return NULL;
	h->refs = 1;
	h->client = client;
	h->event = bj_take_fd(&event);
	h->epoll = bj_take_fd(&epoll);
	return BJ_TAKE_PTR(h);
}

struct bj_hangup *bj_hangup_ref(struct bj_hangup *h)
{
	h->refs++;
	return h;
}

void bj_hangup_unref(struct bj_hangup *h)
{
	if (!h || --h->refs > 0)
		return;
	close(h->event);
	close(h->epoll);
	free(h);
}

int bj_hangup_fd(const struct bj_hangup *h)
{
	return h->epoll;
}

bool bj_hangup_loosen(struct bj_hangup *h)
{
	struct pollfd p = { .fd = h->client, .events = POLLRDHUP };

	if (h->client < 0 || h->loose)
		return true;
	h->loose = true;
	epoll_ctl(h->epoll, EPOLL_CTL_DEL, h->client, NULL);
	/* Who is still here now was here all the time: nobody saw it leave. */
	if (poll(&p, 1, 0) == 0)
		return true;
	bj_hangup_tighten(h);
	return false;
}

bool bj_hangup_is_loose(const struct bj_hangup *h)
{
	return h->loose;
}

void bj_hangup_tighten(struct bj_hangup *h)
{
	if (h->client < 0 || !h->loose)
		return;
	h->loose = false;
	if (watch(h->epoll, h->client, EPOLLRDHUP) < 0)
		bj_hangup_raise(h); /* nobody could stop it any more */
}

void bj_hangup_raise(struct bj_hangup *h)
{
	eventfd_write(h->event, 1);
}

void bj_hangup_clear(struct bj_hangup *h)
{
	eventfd_t ignored;

	eventfd_read(h->event, &ignored);
}

int bj_hangup_add(struct bj_hangup *h, int fd)
{
	return fd < 0 ? 0 : watch(h->epoll, fd, EPOLLIN);
}
