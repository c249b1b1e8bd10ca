/* SPDX-License-Identifier: Apache-2.0 */

/* The filters in the program are shorter than what libseccomp writes, and answer the same: DS-SEC.
 *
 * All numbers that a filter could tell apart are tried, each with every constant that an argument
 * is compared with, in every argument, and its neighbours; then many arguments at once. */

#include "program.h"

#include "base/cleanup.h"
#include "seccomp/compact.h"
#include "seccomp/profile.h"

#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define PROFILES UNIT_DIR "/../../profiles/"

enum { MAX_VALUES = 4096, LAST_NUMBER = 1100, GUESSES = 400000, ARGS = 6 };

/* Libseccomp's programs for one filter of ours, in the order in which they would be loaded. */
struct origin {
	const char *name;
	const struct bj_filter *ours, *rest; /* the latter is loaded on top, unless NULL */
	const char *profiles[2];
	struct bj_buf codes[2];
	size_t n;
	uint64_t values[MAX_VALUES]; /* what arguments are compared with, and near it */
	size_t n_values;
};

/* As the kernel does it: the last program is asked first, and one before it must be stricter. */
static uint32_t ask_next(const struct bj_filter *filter, const struct seccomp_data *data,
			 uint32_t said)
{
	const uint32_t now = answer(filter, data);

	return (int32_t)(now & SECCOMP_RET_ACTION_FULL) < (int32_t)(said & SECCOMP_RET_ACTION_FULL)
		       ? now
		       : said;
}

static uint32_t ask_all(const struct origin *o, const struct seccomp_data *data)
{
	uint32_t said = SECCOMP_RET_ALLOW;

	for (size_t i = o->n; i-- > 0;) {
		const struct bj_filter filter = { o->codes[i].data, o->codes[i].size };

		said = ask_next(&filter, data, said);
	}
	return said;
}

static uint32_t ask_ours(const struct origin *o, const struct seccomp_data *data)
{
	return ask_next(o->ours, data, o->rest ? answer(o->rest, data) : SECCOMP_RET_ALLOW);
}

static void expect_same(const struct origin *o, const struct seccomp_data *data)
{
	const uint32_t theirs = ask_all(o, data), ours = ask_ours(o, data);

	if (ours != theirs)
		fail_msg("%s: arch %#x, call %d (%#llx, %#llx, %#llx): %#x, should be %#x", o->name,
			 data->arch, data->nr, data->args[0], data->args[1], data->args[2], ours,
			 theirs);
}

static void add_value(struct origin *o, uint64_t value)
{
	for (size_t i = 0; i < o->n_values; i++)
		if (o->values[i] == value)
			return;
	assert_true(o->n_values < MAX_VALUES);
	o->values[o->n_values++] = value;
}

static void add_near(struct origin *o, uint32_t k)
{
	for (uint32_t near = k - 1; near != k + 2; near++) {
		add_value(o, near);
		add_value(o, (uint64_t)near << 32);
		add_value(o, (uint64_t)1 << 32 | near);
	}
	add_value(o, ~(uint64_t)k);
}

static void find_values(struct origin *o, const struct bj_buf *buf)
{
	const struct sock_filter *code = (const struct sock_filter *)buf->data;
	uint32_t loaded = 0;

	for (size_t i = 0; i < buf->size / sizeof(*code); i++) {
		if (BPF_CLASS(code[i].code) == BPF_LD)
			loaded = code[i].k;
		else if (code[i].code != (BPF_JMP | BPF_JA) && BPF_CLASS(code[i].code) != BPF_RET &&
			 loaded >= offsetof(struct seccomp_data, args))
			add_near(o, code[i].k);
	}
}

static void read_origin(struct origin *o)
{
	struct bj_err err = { 0 };

	add_near(o, 0);
	while (o->n < BJ_ARRAY_SIZE(o->profiles) && o->profiles[o->n]) {
		char path[512];

		snprintf(path, sizeof(path), PROFILES "%s", o->profiles[o->n]);
		if (bj_profile_compile_file(path, &o->codes[o->n], &err) < 0)
			fail_msg("%s", err.msg);
		find_values(o, &o->codes[o->n++]);
	}
}

static void try_arguments(const struct origin *o, int number)
{
	for (size_t i = 0; i < o->n_values; i++)
		for (int arg = 0; arg < ARGS; arg++) {
			struct seccomp_data data = { .nr = number, .arch = NATIVE };

			data.args[arg] = o->values[i];
			expect_same(o, &data);
		}
}

/* A plain generator, the same numbers every time. */
static uint64_t next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

static void guess(const struct origin *o)
{
	uint64_t seed = 1;

	for (int i = 0; i < GUESSES; i++) {
		struct seccomp_data data = { .nr = (int)(next(&seed) % 480), .arch = NATIVE };

		for (int arg = 0; arg < ARGS; arg++)
			data.args[arg] = next(&seed) % 8 ? o->values[next(&seed) % o->n_values]
							 : next(&seed) << 32 | next(&seed);
		expect_same(o, &data);
	}
}

static void try_numbers(const struct origin *o)
{
	static const uint32_t others[] = { 0,          0x3fffffff, 0x40000000, 0x400001ff,
					   0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };

	for (int number = 0; number <= LAST_NUMBER; number++)
		try_arguments(o, number);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(others); i++)
		try_arguments(o, (int)others[i]);
}

static void try_architectures(const struct origin *o)
{
	static const uint32_t others[] = {
		0,          AUDIT_ARCH_I386, AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64, AUDIT_ARCH_ARM,
		NATIVE - 1, NATIVE + 1,      UINT32_MAX
	};

	for (size_t i = 0; i < BJ_ARRAY_SIZE(others); i++)
		for (int number = 0; number <= LAST_NUMBER; number++)
			expect_same(o, &(struct seccomp_data){ .nr = number, .arch = others[i] });
}

static void every_filter_answers_as_its_profiles_do(void **state)
{
	static struct origin origins[] = {
		{ .name = "jar",
		  .ours = &bj_filter_jar,
		  .profiles = { "default.json", "floor.json" } },
		{ .name = "zygote and slot",
		  .ours = &bj_filter_zygote,
		  .rest = &bj_filter_slot,
		  .profiles = { "default.json", "floor.json" } },
		{ .name = "floor", .ours = &bj_filter_floor, .profiles = { "floor.json" } },
		{ .name = "init", .ours = &bj_filter_init, .profiles = { "init.json" } },
		{ .name = "collect", .ours = &bj_filter_collect, .profiles = { "collect.json" } },
		{ .name = "import", .ours = &bj_filter_import, .profiles = { "import.json" } },
		{ .name = "front", .ours = &bj_filter_front, .profiles = { "front.json" } },
		{ .name = "launcher",
		  .ours = &bj_filter_launcher,
		  .profiles = { "launcher.json" } },
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(origins); i++) {
		struct origin *o = &origins[i];

		read_origin(o);
		try_numbers(o);
		try_architectures(o);
		guess(o);
		bj_buf_done(&o->codes[0]);
		bj_buf_done(&o->codes[1]);
	}
}

static int compact(const struct sock_filter *code, size_t n, struct bj_err *err)
{
	AUTO_BUF struct bj_buf in = { 0 }, out = { 0 };

	bj_buf_add(&in, code, n * sizeof(*code));
	return bj_compact(&in, 1, &out, err);
}

#define REFUSED(why, ...)                                                                          \
	do {                                                                                       \
		const struct sock_filter code[] = { __VA_ARGS__ };                                 \
		struct bj_err err = { 0 };                                                         \
                                                                                                   \
		assert_int_equal(compact(code, BJ_ARRAY_SIZE(code), &err), -BJ_E_INVALID);         \
		assert_non_null(strstr(err.msg, why));                                             \
	} while (0)

#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define OURS_ONLY  LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0), KILL
#define ALLOW      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

#define ERRNO(number) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (number))

/* The stricter of two answers counts, whoever gives it; of two errnos the last one loaded. */
static void two_programs_answer_as_two(void **state)
{
	static const struct sock_filter first[] = {
		OURS_ONLY, LOAD(nr),      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 5, 1, 0),
		ERRNO(1),  LOAD(args[0]), BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 7, 0, 1),
		KILL,      ALLOW,
	};
	static const struct sock_filter last[] = {
		OURS_ONLY, LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 5, 0, 1), ERRNO(2), ALLOW,
	};
	AUTO_BUF struct bj_buf a = { 0 }, b = { 0 }, both = { 0 };
	struct bj_err err = { 0 };

	(void)state;
	bj_buf_add(&a, first, sizeof(first));
	bj_buf_add(&b, last, sizeof(last));

	const struct bj_buf codes[] = { a, b };

	assert_int_equal(bj_compact(codes, 2, &both, &err), 0);

	const struct bj_filter filter = { both.data, both.size };
	const struct seccomp_data large = { .nr = 5, .arch = NATIVE, .args = { 8 } };

	assert_int_equal(answer_to(&filter, NATIVE, 4), SECCOMP_RET_ERRNO | 1);
	assert_int_equal(answer_to(&filter, NATIVE, 5), SECCOMP_RET_ERRNO | 2);
	assert_int_equal(answer_to(&filter, NATIVE, 6), SECCOMP_RET_ERRNO | 2);
	assert_int_equal(answer(&filter, &large), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(answer_to(&filter, NATIVE + 1, 4), SECCOMP_RET_KILL_PROCESS);
}

/* What a slot needs to seal itself it may do until its own part is loaded, and nothing more. */
static void a_zygote_may_do_what_its_slots_need(void **state)
{
	static const int calls[] = { SYS_clone3, SYS_prlimit64, SYS_seccomp, SYS_setns,
				     SYS_unshare };
	const struct seccomp_data core = { .nr = SYS_prlimit64,
					   .arch = NATIVE,
					   .args = { 0, RLIMIT_CORE, 1 } };
	int more = 0;

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(calls); i++)
		assert_int_equal(answer_to(&bj_filter_zygote, NATIVE, calls[i]), SECCOMP_RET_ALLOW);
	for (int number = 0; number <= LAST_NUMBER; number++)
		more += answer_to(&bj_filter_zygote, NATIVE, number) == SECCOMP_RET_ALLOW &&
			answer_to(&bj_filter_jar, NATIVE, number) != SECCOMP_RET_ALLOW;
	/* The others are allowed with some arguments. */
	assert_int_equal(more, 4);
	assert_int_equal(answer(&bj_filter_zygote, &core), SECCOMP_RET_ALLOW);
	assert_int_equal(answer(&bj_filter_slot, &core), SECCOMP_RET_ERRNO);
	assert_int_equal(answer_to(&bj_filter_slot, NATIVE + 1, 0), SECCOMP_RET_KILL_PROCESS);
}

/* A slot hears of its last call and of sockets in one program with its part of the filter, which is
 * not asked about them then: what refuses some of them must be the other part. */
static void a_slots_part_refuses_nothing_that_is_told(void **state)
{
	static const int calls[] = { SYS_socket, SYS_socketpair, SYS_exit_group };

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(calls); i++)
		for (uint64_t arg = 0; arg < 256; arg++)
			for (int shift = 0; shift < 64; shift += 8) {
				const struct seccomp_data call = {
					.nr = calls[i],
					.arch = NATIVE,
					.args = { arg << shift, arg << shift, arg << shift }
				};

				assert_int_equal(answer(&bj_filter_slot, &call), SECCOMP_RET_ALLOW);
			}
}

static void what_it_does_not_know_it_refuses(void **state)
{
	(void)state;
	REFUSED("another architecture", ALLOW);
	REFUSED("another architecture", LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_I386, 1, 0), KILL, ALLOW);
	REFUSED("no end", OURS_ONLY, LOAD(nr));
	REFUSED("libseccomp does not write", OURS_ONLY, BPF_STMT(BPF_ALU | BPF_OR | BPF_K, 1),
		ALLOW);
	REFUSED("libseccomp does not write", OURS_ONLY, LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1, 0, 1), KILL, ALLOW);
	REFUSED("libseccomp does not write", OURS_ONLY, BPF_STMT(BPF_RET | BPF_A, 0));
	REFUSED("part of a number", OURS_ONLY, LOAD(nr), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 1),
		ALLOW);
	REFUSED("from nowhere", OURS_ONLY,
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(struct seccomp_data)), ALLOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_filter_answers_as_its_profiles_do),
		cmocka_unit_test(two_programs_answer_as_two),
		cmocka_unit_test(a_zygote_may_do_what_its_slots_need),
		cmocka_unit_test(a_slots_part_refuses_nothing_that_is_told),
		cmocka_unit_test(what_it_does_not_know_it_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
