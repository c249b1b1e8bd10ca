/* SPDX-License-Identifier: Apache-2.0 */

/* APPROVE: what waits comes back as it was, and what a decision is bound to changes with it. */

#include "unit.h"

#include "base/fd.h"
#include "record/held.h"
#include "record/record.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const ARGS[] = { "one", "two words", "\xff", NULL };
static const char *const ENV[] = { "A=b", "EMPTY=", NULL };
static const struct bj_input INPUTS[] = { { "in.bin", "\0\1\2", 3 }, { "empty", "", 0 } };

static struct bj_spec make_spec(int stdin_fd)
{
	return (struct bj_spec){
		.id = "abc",
		.script = "print(1)\0x",
		.script_size = 10,
		.language = BJ_LANG_BASH,
		.backend = BJ_BACKEND_DOCKER,
		.policy = BJ_POLICY_STRICT,
		.limits = { .memory = UINT64_C(1) << 40, .pids = 7, .timeout_ms = 5 },
		.args = ARGS,
		.env = ENV,
		.inputs = INPUTS,
		.n_inputs = 2,
		.stdin_fd = stdin_fd,
		.tool = "execute_script",
		.declared_risk = BJ_RISK_HIGH,
		.tenant = "acme"
	};
}

static void there_and_back(void **state)
{
	const int in = bj_fd_memfile("in", "read me", 7);
	const struct bj_spec spec = make_spec(in);
	struct bj_buf bytes = { 0 };
	struct bj_held held;
	char before[65], after[65];

	(void)state;
	assert_int_equal(bj_held_pack(&spec, &bytes, NULL), 0);
	assert_int_equal(bj_held_unpack(bytes.data, bytes.size, &held, NULL), 0);
	assert_int_equal(held.spec.script_size, 10);
	assert_memory_equal(held.spec.script, spec.script, 10);
	assert_string_equal(held.spec.args[2], "\xff");
	assert_string_equal(held.spec.env[1], "EMPTY=");
	assert_int_equal(held.spec.inputs[0].size, 3);
	assert_string_equal(held.spec.tenant, "acme");
	assert_int_equal(held.spec.declared_risk, BJ_RISK_HIGH);
	bj_record_binding(&spec, before);
	bj_record_binding(&held.spec, after);
	assert_string_equal(before, after);
	bj_held_done(&held);
	bj_buf_done(&bytes);
	close(in);
}

static void every_part_is_bound(void **state)
{
	const struct bj_input other[] = { { "in.bin", "\0\1\3", 3 }, { "empty", "", 0 } };
	struct bj_spec spec = make_spec(-1), changed[9];
	char base[65], hash[65];

	(void)state;
	bj_record_binding(&spec, base);
	for (int i = 0; i < 9; i++)
		changed[i] = spec;
	changed[0].script = "print(2)\0x";
	changed[1].script_size = 9;
	changed[2].args = NULL;
	changed[3].env = ARGS;
	changed[4].inputs = other;
	changed[5].limits.pids = 8;
	changed[6].policy = BJ_POLICY_OFF;
	changed[7].trust = true;
	changed[8].image = "other";
	for (int i = 0; i < 9; i++) {
		bj_record_binding(&changed[i], hash);
		assert_string_not_equal(base, hash);
	}
}

static void standard_input_is_bound(void **state)
{
	static const char *const texts[] = { "", "none", "file", "stream", "x" };
	const struct bj_input named[] = { { "file", "", 0 } };
	char hashes[8][65];
	int ends[2], n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const int in = bj_fd_memfile("in", texts[i], strlen(texts[i]));
		const struct bj_spec spec = make_spec(in);

		bj_record_binding(&spec, hashes[n++]);
		close(in);
	}

	struct bj_spec spec = make_spec(-1);

	bj_record_binding(&spec, hashes[n++]);
	spec.inputs = named;
	spec.n_inputs = 1;
	bj_record_binding(&spec, hashes[n++]);
	assert_int_equal(pipe(ends), 0);
	spec = make_spec(ends[0]);
	bj_record_binding(&spec, hashes[n++]);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			assert_string_not_equal(hashes[i], hashes[j]);
	/* Of a stream nobody knows what comes: the next run is another one. */
	bj_record_binding(&spec, hashes[0]);
	assert_string_equal(hashes[0], hashes[n - 1]);
	spec.id[0]++;
	bj_record_binding(&spec, hashes[0]);
	assert_string_not_equal(hashes[0], hashes[n - 1]);
	close(ends[0]);
	close(ends[1]);
}

/* As long as a disk: no run waits for that to be read. */
static void a_huge_standard_input_is_not_read(void **state)
{
	const int in = memfd_create("in", MFD_CLOEXEC);
	struct bj_spec spec = make_spec(in);
	char one[65], same[65], other[65];

	(void)state;
	assert_int_equal(ftruncate(in, (off_t)1 << 40), 0);
	alarm(20);
	bj_record_binding(&spec, one);
	bj_record_binding(&spec, same);
	spec.id[0]++;
	bj_record_binding(&spec, other);
	alarm(0);
	assert_string_equal(one, same);
	assert_string_not_equal(one, other);
	close(in);
}

static void what_is_broken_or_cannot_wait(void **state)
{
	static const char *const bad[] = {
		"", "[]", "{}", "{\"id\":\"x\"}",
		"{\"id\":\"x\",\"script\":\"!\",\"args\":[],\"env\":[]}"
	};
	struct bj_spec spec = make_spec(-1);
	struct bj_buf bytes = { 0 };
	struct bj_held held;
	int ends[2];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_true(bj_held_unpack(bad[i], strlen(bad[i]), &held, NULL) < 0);
		bj_held_done(&held);
	}
	assert_int_equal(pipe(ends), 0);
	spec.stdin_fd = ends[0];
	assert_int_equal(bj_held_pack(&spec, &bytes, NULL), -BJ_E_UNSUPPORTED);
	bj_buf_done(&bytes);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(every_part_is_bound),
		cmocka_unit_test(standard_input_is_bound),
		cmocka_unit_test(a_huge_standard_input_is_not_read),
		cmocka_unit_test(what_is_broken_or_cannot_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
