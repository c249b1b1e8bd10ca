/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/http.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "record/tenant.h"
#include "serve/auth.h"
#include "serve/frame.h"
#include "serve/page.h"
#include "serve/problem.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sodium.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define DRAIN_NS UINT64_C(3000000000)

enum { STACK = 512 << 10, HEADERS_MAX = 32 << 10, STREAM_BLOCK = 16 << 10 };

/* The largest requests that are held at once, in line or under way. */
enum { HELD_BODIES = 16 };

/* A connection. Its thread works with it; the watch looks at the deadline. */
struct bj_conn {
	struct bj_door *door;
	int socket; /* borrowed from the library */
	bool allowed;
	bool head;  /* the request wants no body */
	uid_t peer; /* over a Unix socket */
	/* Whose requests it brings. Its thread writes it, with the lock. */
	char tenant[BJ_TENANT_NAME];
	atomic_ullong deadline; /* monotonic ns; 0: we are busy, not the client */
	struct bj_hangup *hangup;
	struct bj_conn *prev, *next;
};

/* A request that is being read. */
struct incoming {
	struct bj_buf body;
	struct bj_hold *hold;
	bool unwanted; /* it is answered without its body */
	bool too_large;
	bool crowded; /* others hold so much that this one does not fit */
	bool whole;   /* it is being answered */
	struct bj_caller caller;
};

static void set_deadline(struct bj_conn *conn)
{
	conn->deadline = bj_clock_now() + conn->door->http->request_timeout_ms * 1000000u;
}

/* --- connections ------------------------------------------------------------------------------ */

static void conn_open(struct bj_door *door, struct MHD_Connection *connection, void **slot)
{
	struct bj_http *http = door->http;
	const int one = 1;
	struct bj_conn *conn = calloc(1, sizeof(*conn));

	*slot = conn;
	if (!conn)
		return;
	conn->door = door;
	conn->socket = http->mhd.connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
			       ->connect_fd;
	conn->allowed = door->tcp || bj_auth_peer(conn->socket, http->owner, &conn->peer);
	if (door->tcp)
		setsockopt(conn->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	set_deadline(conn);
	http->service->metrics.connections++;
	pthread_mutex_lock(&http->lock);
	conn->next = http->conns;
	if (conn->next)
		conn->next->prev = conn;
	http->conns = conn;
	pthread_mutex_unlock(&http->lock);
}

static void conn_close(struct bj_door *door, void **slot)
{
	struct bj_http *http = door->http;
	struct bj_conn *conn = *slot;

	if (!conn)
		return;
	*slot = NULL;
	pthread_mutex_lock(&http->lock);
	*(conn->prev ? &conn->prev->next : &http->conns) = conn->next;
	if (conn->next)
		conn->next->prev = conn->prev;
	pthread_mutex_unlock(&http->lock);
	http->service->metrics.connections--;
	bj_hangup_unref(conn->hangup);
	free(conn);
}

static void on_connection(void *cls, struct MHD_Connection *connection, void **slot,
			  enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		conn_open(cls, connection, slot);
	else
		conn_close(cls, slot);
}

void bj_http_watch(struct bj_http *http)
{
	const uint64_t now = bj_clock_now();

	pthread_mutex_lock(&http->lock);
	for (struct bj_conn *c = http->conns; c; c = c->next)
		/* The library closes the descriptor only after it took the connection from here. */
		if (c->deadline && c->deadline < now)
			shutdown(c->socket, SHUT_RDWR);
	pthread_mutex_unlock(&http->lock);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* A stream on its way: what the library calls back with. */
struct outgoing {
	struct bj_stream stream;
	struct bj_conn *conn;
};

static ssize_t on_stream(void *cls, uint64_t pos, char *to, size_t room)
{
	struct outgoing *out = cls;

	(void)pos;
	out->conn->deadline = 0;

	const ssize_t n = out->stream.next(out->stream.ctx, to, room);

	set_deadline(out->conn);
	return n > 0 ? n : MHD_CONTENT_READER_END_OF_STREAM;
}

static void on_stream_end(void *cls)
{
	struct outgoing *out = cls;

	out->stream.done(out->stream.ctx);
	free(out);
}

static struct MHD_Response *make_stream(struct bj_conn *conn, struct bj_answer *answer)
{
	struct outgoing *out = malloc(sizeof(*out));

	if (!out)
		return NULL;
	*out = (struct outgoing){ .stream = answer->stream, .conn = conn };

	struct MHD_Response *response = conn->door->http->mhd.response_from_callback(
		MHD_SIZE_UNKNOWN, STREAM_BLOCK, on_stream, out, on_stream_end);

	if (response)
		answer->stream = (struct bj_stream){ 0 };
	else
		free(out);
	return response;
}

static struct MHD_Response *make_response(struct bj_conn *conn, struct bj_answer *answer)
{
	const struct bj_mhd *mhd = &conn->door->http->mhd;
	struct MHD_Response *response;

	if (answer->stream.next)
		return make_stream(conn, answer);
	response = mhd->response_from_buffer(answer->size, answer->body,
					     answer->body_static ? MHD_RESPMEM_PERSISTENT
								 : MHD_RESPMEM_MUST_FREE);
	if (response)
		answer->body = NULL;
	return response;
}

/* Hand the answer to the library. */
static enum MHD_Result send_answer(struct bj_conn *conn, struct MHD_Connection *connection,
				   struct bj_answer *answer)
{
	struct bj_http *http = conn->door->http;

	/* The library ends a stream that it leaves out all the same: the next answer would not
	 * begin where the client looks for it. */
	if (conn->head && answer->stream.next)
		bj_answer_header(answer, "Connection", "close");

	struct MHD_Response *response = make_response(conn, answer);

	if (!response) {
		bj_answer_done(answer);
		return MHD_NO;
	}
	if (answer->type)
		http->mhd.add_response_header(response, "Content-Type", answer->type);
	/* Output of scripts is in many answers: no browser may guess that it is something else. */
	http->mhd.add_response_header(response, "X-Content-Type-Options", "nosniff");
	http->mhd.add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
	for (size_t i = 0; i < answer->n_headers; i++)
		http->mhd.add_response_header(response, answer->headers[i].name,
					      answer->headers[i].value);
	bj_metrics_answer(&http->service->metrics, answer->route, answer->status);

	const enum MHD_Result r = http->mhd.queue_response(connection, answer->status, response);

	http->mhd.destroy_response(response);
	set_deadline(conn);
	return r;
}

/* --- requests --------------------------------------------------------------------------------- */

struct lookup {
	const struct bj_mhd *mhd;
	struct MHD_Connection *connection;
};

static const char *find_header(void *ctx, const char *name)
{
	struct lookup *l = ctx;

	return l->mhd->lookup(l->connection, MHD_HEADER_KIND, name);
}

struct visit {
	const char *name;
	void (*see)(void *to, const char *value);
	void *to;
};

static enum MHD_Result visit_header(void *cls, enum MHD_ValueKind kind, const char *name,
				    size_t name_size, const char *value, size_t value_size)
{
	const struct visit *v = cls;

	(void)kind, (void)name_size, (void)value_size;
	if (value && strcasecmp(name, v->name) == 0)
		v->see(v->to, value);
	return MHD_YES;
}

static void each_header(void *ctx, const char *name, void (*see)(void *to, const char *value),
			void *to)
{
	struct lookup *l = ctx;
	struct visit visit = { .name = name, .see = see, .to = to };

	l->mhd->headers(l->connection, MHD_HEADER_KIND, visit_header, &visit);
}

static const char *find_query(void *ctx, const char *name)
{
	struct lookup *l = ctx;

	return l->mhd->lookup(l->connection, MHD_GET_ARGUMENT_KIND, name);
}

/* The key of the settings is good for everything. */
static bool is_master(struct bj_http *http, const char *key)
{
	pthread_mutex_lock(&http->lock);

	const bool fits = bj_auth_key(http->api_key, NULL, key);

	pthread_mutex_unlock(&http->lock);
	return fits;
}

/* Whose key it is; negative: nobody's, and @err says why. */
static int whose(struct bj_http *http, const char *key, struct bj_caller *ret, struct bj_err *err)
{
	struct bj_archive *archive = http->service->archive;

	if (is_master(http, key)) {
		*ret = (struct bj_caller){ .roles = BJ_ROLE_ADMIN, .name = "serve.api_key" };
		return 0;
	}
	if (!archive)
		return bj_err_set(err, BJ_E_DENIED, 0, "this API key is not known");

	const int r = bj_key_check(&archive->store, key, ret, err);

	bj_service_note_key(http->service, r == 0 ? ret : NULL, err);
	return r;
}

/* Who sends this request. Over a Unix socket that is the user at its other end, unless a key of a
 * tenant comes along: then the request is that tenant's. */
static int identify(struct bj_conn *conn, struct lookup *l, const char *method,
		    struct bj_caller *ret, struct bj_err *err)
{
	struct bj_http *http = conn->door->http;
	const struct bj_request request = { .method = method, .header = find_header, .ctx = l };
	char key[BJ_KEY_MAX];
	int r = -BJ_E_DENIED;
	const bool keyed = bj_sessions_key(http->service->sessions, &request, key);

	bj_err_set(err, BJ_E_DENIED, 0, "send Authorization: Bearer and the API key");
	if (keyed && (conn->door->tcp || strncmp(key, "bj_", 3) == 0)) {
		r = whose(http, key, ret, err);
	} else if (!conn->door->tcp) {
		*ret = (struct bj_caller){ .roles = BJ_ROLE_ADMIN };
		snprintf(ret->name, sizeof(ret->name), "uid %u", conn->peer);
		r = 0;
	}
	sodium_memzero(key, sizeof(key));
	return r;
}

/* Whoever asks whether we live may know; and the page is how people come to a key. */
static bool is_public(const char *method, const char *path)
{
	return strcmp(path, "/healthz") == 0 || (strcmp(method, "GET") == 0 && bj_page_has(path));
}

/* Note whose connection this is. False: the tenant has so many that it would keep others out. */
static bool has_place(struct bj_conn *conn, const char *tenant)
{
	struct bj_http *http = conn->door->http;
	unsigned int n = 0;

	if (strcmp(conn->tenant, tenant) == 0)
		return true;
	pthread_mutex_lock(&http->lock);

	const unsigned int most = http->max_connections - http->max_connections / 4;

	for (const struct bj_conn *c = http->conns; tenant[0] && c; c = c->next)
		n += c->door == conn->door && strcmp(c->tenant, tenant) == 0;
	if (n < most)
		snprintf(conn->tenant, sizeof(conn->tenant), "%s", tenant);
	pthread_mutex_unlock(&http->lock);
	return n < most;
}

/* Before a byte of the body is read. False, and the answer is made, when it may not go on. */
static bool may_go_on(struct bj_conn *conn, struct lookup *l, const char *method, const char *path,
		      struct bj_caller *caller, struct bj_answer *answer)
{
	struct bj_http *http = conn->door->http;
	const char *length = find_header(l, "Content-Length");
	struct bj_err err = { 0 };

	if (!conn->allowed) {
		bj_problem_answer(answer, BJ_PROBLEM_FORBIDDEN,
				  "this service is for root and for the user who started it");
		return false;
	}
	if (!is_public(method, path) && identify(conn, l, method, caller, &err) < 0) {
		bj_problem_answer(answer, BJ_PROBLEM_UNAUTHORIZED, "%s", err.msg);
		return false;
	}
	if (!has_place(conn, caller->tenant)) {
		bj_problem_answer(answer, BJ_PROBLEM_UNAVAILABLE,
				  "this tenant has three quarters of all connections; close some");
		bj_answer_header(answer, "Connection", "close");
		return false;
	}
	if (length && strtoull(length, NULL, 10) > http->max_body) {
		bj_problem_answer(answer, BJ_PROBLEM_TOO_LARGE, "the body is larger than %zu bytes",
				  (size_t)http->max_body);
		return false;
	}
	return true;
}

static enum MHD_Result begin(struct bj_conn *conn, struct lookup *l, const char *method,
			     const char *path, const char *version, void **slot)
{
	struct bj_http *http = conn->door->http;
	struct bj_answer answer = { 0 };
	struct incoming *in = calloc(1, sizeof(*in));

	if (in)
		in->hold = bj_hold_new(&http->service->holds);
	if (!in || !in->hold) {
		free(in);
		return MHD_NO;
	}
	*slot = in;
	in->body.max = http->max_body;
	/* Strangers may ask this, and send what they like: it takes nobody's room. */
	in->unwanted = is_public(method, path);
	set_deadline(conn); /* for the body */

	const char *fault = bj_frame_fault(l->mhd, l->connection, version);

	if (fault) {
		bj_problem_answer(&answer, BJ_PROBLEM_BAD_REQUEST, "%s", fault);
		bj_answer_header(&answer, "Connection", "close");
	} else if (may_go_on(conn, l, method, path, &in->caller, &answer)) {
		bj_hold_belong(in->hold, in->caller.tenant);
		return MHD_YES;
	}
	return send_answer(conn, l->connection, &answer);
}

static void take_body(struct incoming *in, const char *data, size_t size)
{
	if (in->unwanted || in->too_large || in->crowded)
		return; /* what is left is read and dropped, within the time there is */
	in->crowded = !bj_hold_more(in->hold, size);
	if (!in->crowded)
		bj_buf_add(&in->body, data, size);
	in->too_large = in->body.failed;
	if (in->too_large || in->crowded) {
		bj_buf_done(&in->body);
		in->body = (struct bj_buf){ 0 };
		bj_hold_unref(in->hold);
		in->hold = NULL;
	}
}

static enum MHD_Result finish(struct bj_conn *conn, struct lookup *l, const char *method,
			      const char *path, struct incoming *in)
{
	struct bj_http *http = conn->door->http;
	struct bj_answer answer = { 0 };

	conn->deadline = 0;
	in->whole = true;
	http->answering++;
	if (conn->hangup && bj_hangup_is_loose(conn->hangup))
		bj_hangup_unref(BJ_TAKE_PTR(conn->hangup));
	/* Nobody writes to who watches the list for a long time: only this shows that they left. */
	if (!conn->hangup && (strcmp(method, "GET") != 0 || strcmp(path, "/v1/events") == 0))
		conn->hangup = bj_hangup_new(conn->socket);

	const struct bj_request request = { .method = method,
					    .path = path,
					    .header = find_header,
					    .query = find_query,
					    .each = each_header,
					    .ctx = l,
					    .body = in->body.data ? in->body.data : "",
					    .body_size = in->body.size,
					    .hold = in->hold,
					    .hangup = conn->hangup,
					    .caller = &in->caller,
					    .own = !conn->door->tcp && !in->caller.key[0] };

	if (in->too_large)
		bj_problem_answer(&answer, BJ_PROBLEM_TOO_LARGE,
				  "the body is larger than %zu bytes", (size_t)http->max_body);
	else if (in->crowded)
		bj_problem_answer(&answer, BJ_PROBLEM_UNAVAILABLE,
				  "too many large requests are here; try again later");
	else
		bj_service_handle(http->service, &request, &answer);
	return send_answer(conn, l->connection, &answer);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *data_size, void **slot)
{
	struct bj_door *door = cls;
	struct lookup l = { .mhd = &door->http->mhd, .connection = connection };
	const union MHD_ConnectionInfo *info =
		l.mhd->connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct bj_conn *conn = info ? info->socket_context : NULL;

	if (!conn)
		return MHD_NO;
	/* The same without a body, which the library leaves out. */
	conn->head = strcmp(method, "HEAD") == 0;
	if (conn->head)
		method = "GET";
	if (!*slot)
		return begin(conn, &l, method, url, version, slot);
	if (*data_size > 0) {
		take_body(*slot, data, *data_size);
		*data_size = 0;
		return MHD_YES;
	}
	return finish(conn, &l, method, url, *slot);
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **slot,
			 enum MHD_RequestTerminationCode code)
{
	struct bj_door *door = cls;
	struct incoming *in = *slot;
	const union MHD_ConnectionInfo *info =
		door->http->mhd.connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	(void)code;
	if (in) {
		if (in->whole)
			door->http->answering--;
		bj_buf_done(&in->body);
		bj_hold_unref(in->hold);
		free(in);
		*slot = NULL;
	}
	if (info && info->socket_context)
		set_deadline(info->socket_context);
}

/* --- opening and closing ---------------------------------------------------------------------- */

int bj_http_init(struct bj_http *http, struct bj_service *service, uid_t owner, struct bj_err *err)
{
	*http = (struct bj_http){ .service = service, .owner = owner };
	pthread_mutex_init(&http->lock, NULL);
	return bj_mhd_load(&http->mhd, err);
}

void bj_http_configure(struct bj_http *http, const struct bj_serve_settings *settings)
{
	char *key = settings->api_key ? strdup(settings->api_key) : NULL;

	pthread_mutex_lock(&http->lock);
	free(http->api_key);
	http->api_key = key;
	http->max_body = settings->max_body;
	http->service->holds.most = settings->max_body * HELD_BODIES;
	http->max_connections = settings->max_connections;
	http->request_timeout_ms = settings->request_timeout_ms;
	pthread_mutex_unlock(&http->lock);
}

__attribute__((format(printf, 2, 0))) static void say(void *cls, const char *format, va_list ap)
{
	char line[256];

	(void)cls;
	vsnprintf(line, sizeof(line), format, ap);
	line[strcspn(line, "\r\n")] = '\0';
	bj_log(BJ_LOG_DEBUG, "http: %s", line);
}

int bj_http_open(struct bj_http *http, int socket, struct bj_err *err)
{
	struct sockaddr_storage address = { 0 };
	socklen_t size = sizeof(address);

	if (http->n_doors == BJ_HTTP_DOORS)
		return bj_err_set(err, BJ_E_LIMIT, 0, "more than %d sockets", BJ_HTTP_DOORS);
	if (getsockname(socket, (struct sockaddr *)&address, &size) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "a listening socket is broken");

	struct bj_door *door = &http->doors[http->n_doors];

	*door = (struct bj_door){ .http = http, .tcp = address.ss_family != AF_UNIX };

	/* The library closes what it listens on; ours must live on for the next front. */
	const int own = fcntl(socket, F_DUPFD_CLOEXEC, 3);

	if (own < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "a listening socket is broken");
	door->daemon = http->mhd.start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
			MHD_USE_ITC | MHD_USE_ERROR_LOG,
		0, NULL, NULL, on_request, door, MHD_OPTION_EXTERNAL_LOGGER, say, NULL,
		MHD_OPTION_LISTEN_SOCKET, own, MHD_OPTION_NOTIFY_CONNECTION, on_connection, door,
		MHD_OPTION_UNESCAPE_CALLBACK, bj_frame_unescape, NULL, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, door, MHD_OPTION_CONNECTION_LIMIT, http->max_connections,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS_MAX,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK, MHD_OPTION_END);
	if (!door->daemon) {
		close(own);
		return bj_err_set(err, BJ_E_SYSTEM, 0, "cannot start the HTTP server");
	}
	http->n_doors++;
	return 0;
}

void bj_http_quiesce(struct bj_http *http)
{
	for (size_t i = 0; i < http->n_doors; i++) {
		const int fd = http->mhd.quiesce_daemon(http->doors[i].daemon);

		if (fd >= 0)
			close(fd);
	}
}

/* The library hangs up at once when it stops: let answers that are on their way go out. */
static void drain(struct bj_http *http)
{
	static const struct timespec moment = { .tv_nsec = 2000000 };
	const uint64_t deadline = bj_clock_now() + DRAIN_NS;

	while (http->answering > 0 && bj_clock_now() < deadline) {
		bj_http_watch(http);
		nanosleep(&moment, NULL);
	}
}

void bj_http_done(struct bj_http *http)
{
	drain(http);
	for (size_t i = 0; i < http->n_doors; i++)
		http->mhd.stop_daemon(http->doors[i].daemon);
	free(http->api_key);
	pthread_mutex_destroy(&http->lock);
}
