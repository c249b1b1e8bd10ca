/* SPDX-License-Identifier: Apache-2.0 */

/* SCRP-04, DS-SEC: the launcher believes nothing. A message that is right in all but one thing is
 * refused for that thing, with its name in the message. */

#include "unit.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "jar/wire.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* A message and its descriptors, all of them right. */
struct fixture {
	struct bj_wire_launch msg;
	int fds[BJ_WIRE_FD_MAX];
	size_t n;
	int others[2]; /* far ends */
};

enum { FILTER = BJ_WIRE_FD_FIXED, OUT };

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int pair[2], p[2];

	f->msg = (struct bj_wire_launch){ .magic = BJ_WIRE_MAGIC,
					  .version = BJ_WIRE_VERSION,
					  .flags = BJ_WIRE_ALL_FLAGS,
					  .language = BJ_LANG_BASH,
					  .memory = 64 << 20,
					  .tmp_size = 1 << 20,
					  .timeout_ns = 1000,
					  .out_bytes = 10,
					  .out_files = 10,
					  .cpu_milli = 1000,
					  .pids = 10 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
	    pipe2(p, O_CLOEXEC) < 0)
		return -1;
	f->others[0] = pair[1];
	f->others[1] = p[1];
	for (int i = 0; i < BJ_WIRE_FD_MAX; i++)
		f->fds[i] = dup(p[0]);
	close(p[0]);
	close(f->fds[BJ_WIRE_FD_REPLY]);
	f->fds[BJ_WIRE_FD_REPLY] = pair[0];
	close(f->fds[BJ_WIRE_FD_SCRIPT]);
	f->fds[BJ_WIRE_FD_SCRIPT] = bj_fd_memfile("script", "x", 1);
	close(f->fds[BJ_WIRE_FD_SPEC]);
	f->fds[BJ_WIRE_FD_SPEC] = bj_fd_memfile("spec", "x", 1);
	close(f->fds[FILTER]);
	f->fds[FILTER] = bj_fd_memfile("filter", "12345678", 8);
	f->n = BJ_WIRE_FD_MAX;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < BJ_WIRE_FD_MAX; i++)
		close(f->fds[i]);
	close(f->others[0]);
	close(f->others[1]);
	free(f);
	return 0;
}

static int check(const struct fixture *f, struct bj_err *err)
{
	return bj_wire_check(&f->msg, sizeof(f->msg), f->fds, f->n, err);
}

/* @f is refused, and the message ends with @what. */
static void refused(const struct fixture *f, const char *what)
{
	struct bj_err err = { 0 };
	const size_t len = strlen(what);

	assert_int_equal(check(f, &err), -BJ_E_PROTOCOL);
	assert_true(strlen(err.msg) > len);
	assert_string_equal(err.msg + strlen(err.msg) - len, what);
}

static void a_right_message_passes(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(check(f, NULL), 0);
	f->msg.flags = 0;
	f->n = BJ_WIRE_FD_FIXED;
	assert_int_equal(check(f, NULL), 0);
}

static void every_number_has_its_range(void **state)
{
	struct fixture *f = *state;
	const struct fixture right = *f;
	const struct {
		const char *what;
		void *field;
		size_t size;
		uint64_t good[2], bad[3];
	} rows[] = {
		{ "bad magic",
		  &f->msg.magic,
		  4,
		  { BJ_WIRE_MAGIC, BJ_WIRE_MAGIC },
		  { 0, 1, UINT32_MAX } },
		{ "bad version", &f->msg.version, 4, { 1, 1 }, { 0, 2, UINT32_MAX } },
		{ "bad flags", &f->msg.flags, 4, { 127, 6 }, { 128, 255, UINT32_MAX } },
		{ "bad language", &f->msg.language, 4, { 0, 1 }, { 2, 3, UINT32_MAX } },
		{ "bad memory",
		  &f->msg.memory,
		  8,
		  { BJ_WIRE_MEMORY_MIN, BJ_WIRE_MEMORY_MAX },
		  { 0, BJ_WIRE_MEMORY_MIN - 1, BJ_WIRE_MEMORY_MAX + 1 } },
		{ "bad tmp size",
		  &f->msg.tmp_size,
		  8,
		  { 4096, BJ_WIRE_TMP_MAX },
		  { 0, 4095, BJ_WIRE_TMP_MAX + 1 } },
		{ "bad timeout",
		  &f->msg.timeout_ns,
		  8,
		  { 1, BJ_WIRE_TIMEOUT_NS_MAX },
		  { 0, BJ_WIRE_TIMEOUT_NS_MAX + 1, UINT64_MAX } },
		{ "bad cpu",
		  &f->msg.cpu_milli,
		  4,
		  { 1, BJ_WIRE_CPU_MILLI_MAX },
		  { 0, BJ_WIRE_CPU_MILLI_MAX + 1, UINT32_MAX } },
		{ "bad pids",
		  &f->msg.pids,
		  4,
		  { 1, BJ_WIRE_PIDS_MAX },
		  { 0, BJ_WIRE_PIDS_MAX + 1, UINT32_MAX } },
		{ "bad out files",
		  &f->msg.out_files,
		  4,
		  { 0, BJ_WIRE_OUT_FILES_MAX },
		  { BJ_WIRE_OUT_FILES_MAX + 1, UINT32_MAX, UINT32_MAX - 1 } },
		{ "bad out bytes",
		  &f->msg.out_bytes,
		  8,
		  { 0, BJ_WIRE_OUT_BYTES_MAX },
		  { BJ_WIRE_OUT_BYTES_MAX + 1, UINT64_MAX, UINT64_MAX - 1 } },
		{ "bad image", &f->msg.image, 4, { 0, 16 }, { 17, 18, UINT32_MAX } },
	};

	for (size_t i = 0; i < BJ_ARRAY_SIZE(rows); i++) {
		for (size_t k = 0; k < 2; k++) {
			memcpy(rows[i].field, &rows[i].good[k], rows[i].size);
			f->n = (size_t)BJ_WIRE_FD_FIXED + !!(f->msg.flags & BJ_WIRE_HAS_SECCOMP) +
			       !!(f->msg.flags & BJ_WIRE_HAS_OUT);
			assert_int_equal(check(f, NULL), 0);
		}
		for (size_t k = 0; k < 3; k++) {
			memcpy(rows[i].field, &rows[i].bad[k], rows[i].size);
			refused(f, rows[i].what);
		}
		f->msg = right.msg;
	}
}

static void the_size_is_exact(void **state)
{
	const struct fixture *f = *state;

	for (size_t size = 0; size < sizeof(f->msg); size++)
		assert_int_equal(bj_wire_check(&f->msg, size, f->fds, f->n, NULL), -BJ_E_PROTOCOL);
	assert_int_equal(bj_wire_check(&f->msg, sizeof(f->msg) + 1, f->fds, f->n, NULL),
			 -BJ_E_PROTOCOL);
}

static void the_count_of_descriptors_is_exact(void **state)
{
	struct fixture *f = *state;

	for (f->n = 0; f->n < BJ_WIRE_FD_MAX; f->n++)
		refused(f, "bad descriptor count");
	f->msg.flags = BJ_WIRE_HAS_OUT;
	refused(f, "bad descriptor count");
}

/* ABUSE 3: nothing but a pipe becomes a stream of a script. Each place refuses each wrong kind. */
static void every_descriptor_has_its_type(void **state)
{
	struct fixture *f = *state;
	int stream[2];
	AUTO_FD int unsealed = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	AUTO_FD int directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD int device = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	AUTO_FD int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream), 0);
	AUTO_FD int socket_a = stream[0];
	AUTO_FD int socket_b = stream[1];

	const int wrong[] = { -1, unsealed, directory, device, file, socket_a, socket_b };
	static const struct {
		int place;
		const char *what;
	} rows[] = {
		{ BJ_WIRE_FD_REPLY, "reply socket" },
		{ BJ_WIRE_FD_SCRIPT, "script" },
		{ BJ_WIRE_FD_SPEC, "spec" },
		{ BJ_WIRE_FD_STDIN, "a stream" },
		{ BJ_WIRE_FD_STDOUT, "a stream" },
		{ BJ_WIRE_FD_STDERR, "a stream" },
		{ BJ_WIRE_FD_VERDICT, "a stream" },
		{ FILTER, "filter" },
		{ OUT, "out" },
	};

	for (size_t i = 0; i < BJ_ARRAY_SIZE(rows); i++) {
		const int right = f->fds[rows[i].place];

		for (size_t k = 0; k < BJ_ARRAY_SIZE(wrong); k++) {
			f->fds[rows[i].place] = wrong[k];
			refused(f, rows[i].what);
		}
		/* What is right in one place is wrong in another. */
		f->fds[rows[i].place] = right == f->fds[BJ_WIRE_FD_REPLY]
						? f->fds[BJ_WIRE_FD_STDIN]
						: f->fds[BJ_WIRE_FD_REPLY];
		refused(f, rows[i].what);
		f->fds[rows[i].place] = right;
	}
	assert_int_equal(check(f, NULL), 0);
}

/* A sealed file that could still change, or is too large. */
static void sealed_means_all_seals(void **state)
{
	struct fixture *f = *state;
	static const int seals[] = { F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW,
				     F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_WRITE,
				     F_SEAL_SEAL | F_SEAL_GROW | F_SEAL_WRITE,
				     F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };
	const int right = f->fds[BJ_WIRE_FD_SPEC];

	for (size_t i = 0; i < BJ_ARRAY_SIZE(seals); i++) {
		AUTO_FD int fd = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);

		assert_int_equal(fcntl(fd, F_ADD_SEALS, seals[i]), 0);
		f->fds[BJ_WIRE_FD_SPEC] = fd;
		refused(f, "spec");
	}
	f->fds[BJ_WIRE_FD_SPEC] = right;
}

static void a_filter_has_a_ceiling(void **state)
{
	struct fixture *f = *state;
	const size_t most = BJ_WIRE_FILTER_MAX * sizeof(struct sock_filter);
	AUTO_FREE char *bytes = calloc(1, most + 1);

	close(f->fds[FILTER]);
	f->fds[FILTER] = bj_fd_memfile("filter", bytes, most);
	assert_int_equal(check(f, NULL), 0);
	close(f->fds[FILTER]);
	f->fds[FILTER] = bj_fd_memfile("filter", bytes, most + 1);
	refused(f, "filter");
}

static bool is_census(const struct fixture *f, size_t n_fds)
{
	return bj_wire_is_census(&f->msg, sizeof(f->msg), f->fds, n_fds);
}

/* A question is one only by itself, and its answer goes to a socket and nothing else. */
static void a_census_is_no_launch(void **state)
{
	struct fixture *f = *state;

	assert_false(is_census(f, 1));
	f->msg.flags = BJ_WIRE_CENSUS;
	refused(f, "flags");
	assert_true(is_census(f, 1));
	assert_false(is_census(f, 0));
	assert_false(is_census(f, 2));
	assert_false(bj_wire_is_census(&f->msg, sizeof(f->msg) - 1, f->fds, 1));
	f->msg.flags |= BJ_WIRE_PLAIN;
	assert_false(is_census(f, 1));
	f->msg.flags = BJ_WIRE_CENSUS;
	f->msg.magic++;
	assert_false(is_census(f, 1));
	f->msg.magic--;
	assert_false(bj_wire_is_census(&f->msg, sizeof(f->msg), f->fds + BJ_WIRE_FD_STDIN, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_right_message_passes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_number_has_its_range, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_size_is_exact, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_count_of_descriptors_is_exact, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(every_descriptor_has_its_type, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sealed_means_all_seals, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_filter_has_a_ceiling, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_census_is_no_launch, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
