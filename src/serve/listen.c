/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/listen.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/size.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

enum { BACKLOG = 1024, FIRST_PASSED = 3, PROBES = 40 };

bool bj_listen_path(const char *set, char path[PATH_MAX])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int n;

	if (set)
		n = snprintf(path, PATH_MAX, "%s", set);
	else if (geteuid() != 0 && runtime && runtime[0] == '/')
		n = snprintf(path, PATH_MAX, "%s/belljar/belljar.sock", runtime);
	else
		n = snprintf(path, PATH_MAX, BJ_LISTEN_SYSTEM);
	return n < PATH_MAX;
}

static int add(struct bj_listen *l, int socket_take, struct bj_err *err)
{
	if (l->n == BJ_LISTEN_MAX) {
		close(socket_take);
		return bj_err_set(err, BJ_E_LIMIT, 0, "more than %d sockets", BJ_LISTEN_MAX);
	}
	l->sockets[l->n++] = socket_take;
	return 0;
}

/* --- passed by the service manager ------------------------------------------------------------ */

/* How many sockets were passed to this very process. */
static unsigned int count_passed(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	uint64_t for_pid = 0, n = 0;

	if (!pid || !fds || bj_u64_parse(pid, &for_pid) < 0 || bj_u64_parse(fds, &n) < 0 ||
	    for_pid != (uint64_t)getpid() || n > BJ_LISTEN_MAX)
		n = 0;
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return (unsigned int)n;
}

static int take_passed(struct bj_listen *l, unsigned int n, struct bj_err *err)
{
	for (unsigned int i = 0; i < n; i++) {
		const int fd = FIRST_PASSED + (int)i;
		int listens = 0;
		socklen_t size = sizeof(listens);

		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 || !listens)
			return bj_err_set(err, BJ_E_INVALID, 0,
					  "descriptor %d was passed and is no listening socket",
					  fd);
		fcntl(fd, F_SETFD, FD_CLOEXEC);

		const int r = add(l, fd, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* --- the Unix socket -------------------------------------------------------------------------- */

static int make_parent(const char *path, struct bj_err *err)
{
	AUTO_FREE char *dir = strdup(path);
	char *slash = dir ? strrchr(dir, '/') : NULL;

	if (!slash || slash == dir)
		return 0;
	*slash = '\0';
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return bj_err_set(err, BJ_E_SYSTEM, errno,
				  "cannot make the directory %.120s; name a place with --socket",
				  dir);
	return 0;
}

/* Who holds the lock holds the path. The file stays: removing it would let two hold one each. */
static int lock_path(struct bj_listen *l, struct bj_err *err)
{
	AUTO_FREE char *name = NULL;

	if (asprintf(&name, "%s.lock", l->path) < 0) {
		name = NULL;
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot name the lock");
	}
	l->lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (l->lock < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno,
				  "cannot open %.120s; name a place with --socket", name);
	if (flock(l->lock, LOCK_EX | LOCK_NB) < 0)
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "another service has %.120s; stop it or name another --socket",
				  l->path);
	return 0;
}

static int address_of(const char *path, struct sockaddr_un *ret, struct bj_err *err)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(ret->sun_path))
		return bj_err_set(err, BJ_E_LIMIT, 0,
				  "the path of the socket is longer than %zu bytes: %.100s",
				  sizeof(ret->sun_path) - 1, path);
	memcpy(ret->sun_path, path, strlen(path) + 1);
	return 0;
}

static bool is_listened_on(const struct sockaddr_un *address)
{
	AUTO_FD int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return probe >= 0 &&
	       (connect(probe, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
		errno == EAGAIN);
}

/* What stands at the path may go only when it is a socket on which nobody listens. */
static int clear_path(const char *path, struct bj_err *err)
{
	static const struct timespec moment = { .tv_nsec = 50000000 };
	struct sockaddr_un address;
	struct stat st;
	const int r = address_of(path, &address, err);

	if (r < 0)
		return r;
	if (lstat(path, &st) < 0)
		return errno == ENOENT
			       ? 0
			       : bj_err_set(err, BJ_E_SYSTEM, errno, "cannot look at %.120s", path);
	if (!S_ISSOCK(st.st_mode))
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "%.120s is there and is no socket; remove it or name another "
				  "--socket",
				  path);

	/* We have the lock, so it is no living service. The front of one that was killed may be
	 * about to end. */
	for (int i = 0; i < PROBES; i++) {
		if (!is_listened_on(&address))
			return 0;
		nanosleep(&moment, NULL);
	}
	return bj_err_set(err, BJ_E_DENIED, 0,
			  "something listens on %.120s; stop it or name another --socket", path);
}

/* Bind aside and rename: whoever finds the path finds a socket that listens, with its mode set. */
static int bind_unix(struct bj_listen *l, struct bj_err *err)
{
	AUTO_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	AUTO_FREE char *aside = NULL;
	struct sockaddr_un address;

	if (fd < 0 || asprintf(&aside, "%s.%d", l->path, getpid()) < 0) {
		aside = NULL;
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a socket");
	}

	int r = address_of(aside, &address, err);

	if (r < 0)
		return r;
	unlink(aside);

	const mode_t mask = umask(0177);

	r = bind(fd, (struct sockaddr *)&address, sizeof(address));
	umask(mask);
	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot bind %.150s", aside);
	if (listen(fd, BACKLOG) < 0 || rename(aside, l->path) < 0) {
		r = bj_err_set(err, BJ_E_SYSTEM, errno, "cannot listen on %.150s", l->path);
		unlink(aside);
		return r;
	}
	return add(l, bj_take_fd(&fd), err);
}

static int open_unix(struct bj_listen *l, const char *set, struct bj_err *err)
{
	struct sockaddr_un address;

	if (!bj_listen_path(set, l->path))
		return bj_err_set(err, BJ_E_LIMIT, 0, "the path of the socket is too long");

	int r = address_of(l->path, &address, err);

	if (r == 0)
		r = make_parent(l->path, err);
	if (r == 0)
		r = lock_path(l, err);
	if (r == 0)
		r = clear_path(l->path, err);
	if (r == 0)
		r = bind_unix(l, err);
	if (r < 0)
		l->path[0] = '\0'; /* not ours to remove */
	return r;
}

/* --- TCP -------------------------------------------------------------------------------------- */

/* Split HOST:PORT at the last colon, so that ::1:8080 works too. */
static int resolve(const char *text, struct addrinfo **ret, struct bj_err *err)
{
	static const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					       .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	AUTO_FREE char *host = strdup(text);
	char *colon = host ? strrchr(host, ':') : NULL;

	if (!colon)
		return bj_err_set(err, BJ_E_INVALID, 0, "serve.listen: say HOST:PORT, not %.60s",
				  text);
	*colon = '\0';

	uint64_t port;

	/* getaddrinfo() takes larger ones too, and drops the upper bits. */
	if (bj_u64_parse(colon + 1, &port) < 0 || port > UINT16_MAX)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "serve.listen: %.60s: the port is a number from 0 to 65535",
				  text);

	const int r = getaddrinfo(host[0] ? host : NULL, colon + 1, &hints, ret);

	if (r != 0)
		return bj_err_set(err, BJ_E_INVALID, 0, "serve.listen: %.60s: %s", text,
				  gai_strerror(r));
	return 0;
}

static int bind_tcp(const struct addrinfo *a, const char *text, struct bj_err *err)
{
	const int one = 1;
	AUTO_FD int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);

	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, a->ai_addr, a->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot listen on %.80s", text);
	return bj_take_fd(&fd);
}

static int open_tcp(struct bj_listen *l, const char *text, struct bj_err *err)
{
	struct addrinfo *list = NULL;
	int r = resolve(text, &list, err);

	if (r < 0)
		return r;
	r = bind_tcp(list, text, err);
	freeaddrinfo(list);
	return r < 0 ? r : add(l, r, err);
}

/* --- all of them ------------------------------------------------------------------------------ */

int bj_listen_open(const struct bj_serve_settings *settings, struct bj_listen *ret,
		   struct bj_err *err)
{
	const unsigned int passed = count_passed();
	int r;

	*ret = (struct bj_listen){ .lock = -1 };
	r = passed ? take_passed(ret, passed, err) : open_unix(ret, settings->socket, err);
	if (r == 0 && settings->listen)
		r = open_tcp(ret, settings->listen, err);
	if (r == 0 && bj_listen_has_tcp(ret) && !settings->api_key)
		r = bj_err_set(err, BJ_E_DENIED, 0,
			       "no TCP without an API key: set serve.api_key_file, or "
			       "BELLJAR_SERVE_API_KEY");
	if (r < 0)
		bj_listen_done(ret);
	return r;
}

bool bj_listen_has_tcp(const struct bj_listen *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct sockaddr_storage address = { 0 };
		socklen_t size = sizeof(address);

		if (getsockname(l->sockets[i], (struct sockaddr *)&address, &size) < 0 ||
		    address.ss_family != AF_UNIX)
			return true;
	}
	return false;
}

void bj_listen_forget(struct bj_listen *l)
{
	for (size_t i = 0; i < l->n; i++)
		close(l->sockets[i]);
	l->n = 0;
}

void bj_listen_close(struct bj_listen *l)
{
	if (l->path[0])
		unlink(l->path);
	l->path[0] = '\0';
	bj_listen_forget(l);
}

void bj_listen_done(struct bj_listen *l)
{
	bj_listen_close(l);
	if (l->lock >= 0)
		close(l->lock);
	l->lock = -1;
}
