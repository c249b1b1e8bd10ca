/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "record/quota.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>
#include <sys/wait.h>

/* TENANT: keys, roles, quotas and what it all costs. */

struct fixture {
	char dir[64], file[80];
	int dir_fd;
	struct bj_store store;
	struct bj_owner owner;
};

static const struct bj_price_settings PRICE = { .run = 100,
						.cpu_second = 2000000,
						.gb_second = 1000000 };

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void open_store(struct fixture *f)
{
	struct bj_err err = { 0 };

	f->dir_fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (bj_owner_init(&f->owner, f->dir_fd, "owners", &err) < 0 ||
	    bj_store_open(&f->store, f->file, f->dir_fd, &err) < 0)
		fail_msg("%s", err.msg);
}

static void close_store(struct fixture *f)
{
	bj_store_done(&f->store);
	bj_owner_done(&f->owner);
	close(f->dir_fd);
}

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){ .dir = "/tmp/belljar-quota-XXXXXX" };
	*state = &f;
	if (!mkdtemp(f.dir) || sodium_init() < 0)
		return -1;
	snprintf(f.file, sizeof(f.file), "%s/belljar.db", f.dir);
	open_store(&f);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	close_store(f);
	return nftw(f->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void add_tenant(struct fixture *f, const char *name, struct bj_quota quota)
{
	struct bj_err err = { 0 };

	if (bj_tenant_add(&f->store, name, &quota, &err) < 0)
		fail_msg("%s", err.msg);
}

/* --- tenants and keys ------------------------------------------------------------------------- */

static void test_tenants(void **state)
{
	struct fixture *f = *state;
	static const char *const bad[] = { "",         "local",
					   ".x",       "-x",
					   "a b",      "a/b",
					   "\xc3\xa4", "123456789012345678901234567890123" };
	struct bj_tenant tenant;
	struct bj_err err = { 0 };
	json_t *list = NULL;

	for (size_t i = 0; i < BJ_ARRAY_SIZE(bad); i++)
		assert_int_equal(bj_tenant_add(&f->store, bad[i], &(struct bj_quota){ 0 }, &err),
				 -BJ_E_INVALID);
	add_tenant(f, "acme", (struct bj_quota){ .concurrency = 3, .output_bytes = 5 });
	assert_int_equal(bj_tenant_add(&f->store, "acme", &(struct bj_quota){ 0 }, &err),
			 -BJ_E_DENIED);
	assert_int_equal(bj_tenant_get(&f->store, "acme", &tenant, &err), 0);
	assert_int_equal(tenant.quota.concurrency, 3);
	assert_int_equal(tenant.quota.output_bytes, 5);
	assert_true(tenant.enabled);
	assert_int_equal(bj_quota_set(&tenant.quota, "output_bytes", "2MiB", &err), 0);
	assert_int_equal(bj_quota_set(&tenant.quota, "cpu_seconds", "lots", &err), -BJ_E_INVALID);
	assert_int_equal(bj_quota_set(&tenant.quota, "cpu_second", "1", &err), -BJ_E_INVALID);
	assert_non_null(strstr(err.msg, "cpu_seconds"));
	tenant.enabled = false;
	assert_int_equal(bj_tenant_set(&f->store, &tenant, &err), 0);
	assert_int_equal(bj_tenant_list(&f->store, NULL, &list, &err), 0);
	assert_int_equal(json_array_size(json_object_get(list, "tenants")), 1);
	json_decref(list);
	assert_int_equal(bj_tenant_get(&f->store, "acme", &tenant, &err), 0);
	assert_false(tenant.enabled);
	assert_int_equal(tenant.quota.output_bytes, 2 << 20);
	assert_int_equal(bj_tenant_remove(&f->store, "acme", &err), 0);
	assert_int_equal(bj_tenant_remove(&f->store, "acme", &err), -BJ_E_NOT_FOUND);
	assert_int_equal(bj_tenant_set(&f->store, &tenant, &err), -BJ_E_NOT_FOUND);
	assert_int_equal(bj_tenant_get(&f->store, "acme", &tenant, &err), -BJ_E_NOT_FOUND);
}

static void test_roles(void **state)
{
	char text[BJ_ROLES_TEXT];

	(void)state;
	assert_int_equal(bj_roles_parse("run,read"), BJ_ROLE_RUN | BJ_ROLE_READ);
	assert_int_equal(bj_roles_parse("admin"), BJ_ROLE_ADMIN);
	assert_int_equal(bj_roles_parse("run,god"), 0);
	assert_int_equal(bj_roles_parse(""), 0);
	bj_roles_format(BJ_ROLE_ALL, text);
	assert_string_equal(text, "run,approve,read,admin");
}

static void expect_refused(struct fixture *f, const char *key, const char *words)
{
	struct bj_caller caller = { .name = "untouched" };
	struct bj_err err = { 0 };

	assert_int_equal(bj_key_check(&f->store, key, &caller, &err), -BJ_E_DENIED);
	if (!strstr(err.msg, words))
		fail_msg("%s", err.msg);
	assert_string_equal(caller.name, "untouched");
}

static void test_keys(void **state)
{
	struct fixture *f = *state;
	struct bj_key_init init = { .tenant = "acme", .name = "ci", .roles = BJ_ROLE_RUN };
	struct bj_tenant tenant;
	struct bj_caller caller;
	struct bj_err err = { 0 };
	char key[BJ_KEY_TEXT], other[BJ_KEY_TEXT];

	assert_int_equal(bj_key_add(&f->store, &init, key, &err), -BJ_E_NOT_FOUND);
	add_tenant(f, "acme", (struct bj_quota){ 0 });
	assert_int_equal(bj_key_add(&f->store, &init, key, &err), 0);
	assert_int_equal(strlen(key), 3 + 8 + 1 + 43);
	assert_int_equal(bj_key_check(&f->store, key, &caller, &err), 0);
	assert_string_equal(caller.tenant, "acme");
	assert_string_equal(caller.name, "ci");
	assert_memory_equal(caller.key, key + 3, 8);
	assert_int_equal(caller.roles, BJ_ROLE_RUN);

	/* A wrong end, a wrong prefix, no key at all. */
	memcpy(other, key, sizeof(key));
	other[strlen(other) - 1] ^= 1;
	expect_refused(f, other, "not known");
	other[5] ^= 1;
	expect_refused(f, other, "not known");
	expect_refused(f, "", "not known");
	expect_refused(f, "bj_", "not known");
	other[11] = '\0';
	expect_refused(f, other, "not known");

	assert_int_equal(bj_tenant_get(&f->store, "acme", &tenant, &err), 0);
	tenant.enabled = false;
	assert_int_equal(bj_tenant_set(&f->store, &tenant, &err), 0);
	expect_refused(f, key, "switched off");
	tenant.enabled = true;
	assert_int_equal(bj_tenant_set(&f->store, &tenant, &err), 0);

	assert_int_equal(bj_key_revoke(&f->store, "nonsense", NULL, &err), -BJ_E_INVALID);
	assert_int_equal(bj_key_revoke(&f->store, key, "somebody", &err), -BJ_E_NOT_FOUND);
	assert_int_equal(bj_key_revoke(&f->store, key, "acme", &err), 0);
	assert_int_equal(bj_key_revoke(&f->store, key, NULL, &err), -BJ_E_NOT_FOUND);
	expect_refused(f, key, "revoked");

	init.expires_ms = bj_clock_unix_ms();
	assert_int_equal(bj_key_add(&f->store, &init, key, &err), 0);
	expect_refused(f, key, "expired");
	init = (struct bj_key_init){ .roles = BJ_ROLE_ADMIN };
	assert_int_equal(bj_key_add(&f->store, &init, key, &err), 0);
	assert_int_equal(bj_key_check(&f->store, key, &caller, &err), 0);
	assert_string_equal(caller.tenant, "");
	init.roles = 0;
	assert_int_equal(bj_key_add(&f->store, &init, key, &err), -BJ_E_INVALID);
	init = (struct bj_key_init){ .roles = BJ_ROLE_RUN, .name = "a\nb" };
	assert_int_equal(bj_key_add(&f->store, &init, key, &err), -BJ_E_INVALID);
}

/* The secret of a key is in no byte of the database; removing a tenant ends its keys. */
static void test_secrets(void **state)
{
	struct fixture *f = *state;
	const struct bj_key_init init = { .tenant = "acme", .roles = BJ_ROLE_RUN };
	static const char *const files[] = { "belljar.db", "belljar.db-wal" };
	struct bj_err err = { 0 };
	char key[BJ_KEY_TEXT];
	json_t *list = NULL;

	add_tenant(f, "acme", (struct bj_quota){ 0 });
	assert_int_equal(bj_key_add(&f->store, &init, key, &err), 0);
	assert_int_equal(bj_key_list(&f->store, "acme", &list, &err), 0);

	AUTO_FREE char *text = json_dumps(list, 0);

	assert_null(strstr(text, key + 12));
	assert_non_null(strstr(text, "\"prefix\""));
	json_decref(list);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(files); i++) {
		AUTO_FD int fd = openat(f->dir_fd, files[i], O_RDONLY | O_CLOEXEC);
		AUTO_FREE char *bytes = calloc(1, 1 << 20);
		const ssize_t n = fd < 0 ? 0 : read(fd, bytes, 1 << 20);

		assert_null(memmem(bytes, (size_t)n, key + 12, 20));
	}
	assert_int_equal(bj_tenant_remove(&f->store, "acme", &err), 0);
	expect_refused(f, key, "revoked");
}

/* --- quotas ----------------------------------------------------------------------------------- */

static int reserve(struct fixture *f, const char *tenant, const char *id, struct bj_use worst,
		   unsigned int *retry, struct bj_err *err)
{
	return bj_quota_reserve(&f->store, &f->owner, tenant, id, &worst, retry, err);
}

static void test_rate(void **state)
{
	struct fixture *f = *state;
	struct bj_err err = { 0 };
	unsigned int retry = 0;

	add_tenant(f, "acme", (struct bj_quota){ .runs_per_minute = 2 });
	assert_int_equal(reserve(f, "acme", "1", (struct bj_use){ 0 }, &retry, &err), 0);
	/* The same run again is the same run. */
	assert_int_equal(reserve(f, "acme", "1", (struct bj_use){ 0 }, &retry, &err), 0);
	assert_int_equal(reserve(f, "acme", "2", (struct bj_use){ 0 }, &retry, &err), 0);
	assert_int_equal(reserve(f, "acme", "3", (struct bj_use){ 0 }, &retry, &err), -BJ_E_LIMIT);
	assert_in_range(retry, 55, 60);
	assert_non_null(strstr(err.msg, "runs_per_minute is 2"));
	assert_int_equal(reserve(f, NULL, "4", (struct bj_use){ 0 }, &retry, &err), 0);
	assert_int_equal(reserve(f, "nobody", "5", (struct bj_use){ 0 }, &retry, &err),
			 -BJ_E_NOT_FOUND);
}

static void test_concurrency(void **state)
{
	struct fixture *f = *state;
	struct bj_err err = { 0 };
	unsigned int retry = 0;

	add_tenant(f, "acme", (struct bj_quota){ .concurrency = 1 });
	assert_int_equal(reserve(f, "acme", "1", (struct bj_use){ 0 }, &retry, &err), 0);
	assert_int_equal(reserve(f, "acme", "2", (struct bj_use){ 0 }, &retry, &err), -BJ_E_LIMIT);
	assert_int_equal(retry, 1);
	assert_int_equal(bj_quota_settle(&f->store, "acme", "1", NULL, &err), 0);
	assert_int_equal(reserve(f, "acme", "2", (struct bj_use){ 0 }, &retry, &err), 0);
}

/* The largest that may be set is one: it does not turn into a small one on the way. */
static void test_the_largest(void **state)
{
	static const char *const seconds[] = { "cpu_seconds", "gb_seconds" };
	struct fixture *f = *state;
	const struct bj_use much = { .cpu_us = UINT64_C(1) << 40,
				     .memory_mib_ms = UINT64_C(1) << 40 };
	struct bj_quota largest = { 0 };
	unsigned int retry = 0;
	struct bj_err err;

	for (size_t i = 0; i < 2; i++) {
		/* In microseconds 2^64 and a bit; then the largest that is taken. */
		assert_int_equal(bj_quota_set(&largest, seconds[i], "18446744073710", &err),
				 -BJ_E_INVALID);
		assert_int_equal(bj_quota_set(&largest, seconds[i], "1099511627776", &err), 0);
	}
	add_tenant(f, "rich", largest);
	assert_int_equal(reserve(f, "rich", "1", much, &retry, &err), 0);
}

static void test_day(void **state)
{
	struct fixture *f = *state;
	const struct bj_limits limits = { .memory = 512 << 20,
					  .cpu_milli = 1000,
					  .timeout_ms = 60000,
					  .max_output = 1000,
					  .out_bytes = 10 };
	const struct bj_use worst = bj_use_worst(&limits, &PRICE);
	struct bj_use used = { .runs = 1, .cpu_us = 50000000, .memory_mib_ms = 1 };
	struct bj_err err = { 0 };
	unsigned int retry = 0;

	assert_int_equal(worst.cpu_us, 60000000);
	assert_int_equal(worst.memory_mib_ms, 512 * 60000);
	assert_int_equal(worst.output_bytes, 2000);
	assert_int_equal(worst.cost_micros, 100 + 60 * 2000000 + 30 * 1000000);
	add_tenant(f, "acme", (struct bj_quota){ .cpu_seconds = 100 });
	assert_int_equal(reserve(f, "acme", "1", worst, &retry, &err), 0);
	/* 40 are left while the first one may still use 60. */
	assert_int_equal(reserve(f, "acme", "2", worst, &retry, &err), -BJ_E_LIMIT);
	assert_non_null(strstr(err.msg, "could use 60, 40 of 100 are left today"));
	assert_in_range(retry, 1, 86400);
	/* It used only 10. */
	used.cpu_us = 10000000;
	assert_int_equal(bj_quota_settle(&f->store, "acme", "1", &used, &err), 0);
	assert_int_equal(reserve(f, "acme", "2", worst, &retry, &err), 0);
	used.cpu_us = 60000000;
	assert_int_equal(bj_quota_settle(&f->store, "acme", "2", &used, &err), 0);
	assert_int_equal(reserve(f, "acme", "3", worst, &retry, &err), -BJ_E_LIMIT);
	/* Whoever asks for less gets it. */
	assert_int_equal(
		reserve(f, "acme", "3", (struct bj_use){ .cpu_us = 1000000 }, &retry, &err), 0);

	add_tenant(f, "memory", (struct bj_quota){ .gb_seconds = 1 });
	assert_int_equal(reserve(f, "memory", "4", worst, &retry, &err), -BJ_E_LIMIT);
	assert_non_null(strstr(err.msg, "gb_seconds"));
	add_tenant(f, "output", (struct bj_quota){ .output_bytes = 1 });
	assert_int_equal(reserve(f, "output", "5", worst, &retry, &err), -BJ_E_LIMIT);
	add_tenant(f, "artifact", (struct bj_quota){ .artifact_bytes = 9 });
	assert_int_equal(reserve(f, "artifact", "6", worst, &retry, &err), -BJ_E_LIMIT);
}

static void test_usage(void **state)
{
	struct fixture *f = *state;
	const struct bj_result result = { .cpu_us = 1500000,
					  .duration_us = 2000000,
					  .peak_memory = 512 << 20,
					  .out = { .size = 10 },
					  .err = { .size = 5 },
					  .out_bytes = 7 };
	const struct bj_use use = bj_use_actual(&result, &PRICE);
	struct bj_err err = { 0 };
	json_t *list = NULL;
	unsigned int retry;

	assert_int_equal(use.memory_mib_ms, 512 * 2000);
	assert_int_equal(use.cost_micros, 100 + 3000000 + 1000000);
	add_tenant(f, "acme", (struct bj_quota){ 0 });
	for (size_t i = 0; i < 2; i++) {
		const char *id = i ? "1" : "2";

		assert_int_equal(reserve(f, "acme", id, use, &retry, &err), 0);
		assert_int_equal(bj_quota_settle(&f->store, "acme", id, &use, &err), 0);
	}
	assert_int_equal(bj_quota_settle(&f->store, NULL, "3", &use, &err), 0);
	assert_int_equal(bj_quota_settle(&f->store, NULL, "4", NULL, &err), 0);
	assert_int_equal(bj_usage_list(&f->store, NULL, 0, false, "EUR", &list, &err), 0);

	const json_t *rows = json_object_get(list, "usage");
	const json_t *acme = json_array_get(rows, 0);

	assert_int_equal(json_array_size(rows), 2);
	assert_string_equal(json_string_value(json_object_get(acme, "tenant")), "acme");
	assert_int_equal(json_integer_value(json_object_get(acme, "runs")), 2);
	assert_true(json_real_value(json_object_get(acme, "cost")) == 8.0002);
	assert_true(json_real_value(json_object_get(acme, "cpu_seconds")) == 3.0);
	assert_int_equal(json_integer_value(json_object_get(acme, "output_bytes")), 30);
	json_decref(list);
	assert_int_equal(bj_usage_list(&f->store, "local", 0, true, "EUR", &list, &err), 0);
	rows = json_object_get(list, "usage");
	assert_int_equal(json_array_size(rows), 1);
	assert_non_null(json_object_get(json_array_get(rows, 0), "day"));
	json_decref(list);
	assert_int_equal(
		bj_usage_list(&f->store, NULL, UINT64_C(1) << 50, false, "EUR", &list, &err), 0);
	assert_int_equal(json_array_size(json_object_get(list, "usage")), 0);
	json_decref(list);
}

/* --- crowds and deaths ------------------------------------------------------------------------ */

struct worker {
	struct fixture *f;
	int number;
	int done;
};

static void *reserve_many(void *ctx)
{
	struct worker *w = ctx;

	for (int i = 0; i < 25; i++) {
		const struct bj_use use = { .runs = 1, .cpu_us = 1000000 };
		struct bj_err err = { 0 };
		unsigned int retry;
		char id[32];

		snprintf(id, sizeof(id), "%d-%d", w->number, i);
		if (bj_quota_reserve(&w->f->store, &w->f->owner, "acme", id, &use, &retry, &err) <
		    0)
			continue;
		w->done++;
		assert_int_equal(bj_quota_settle(&w->f->store, "acme", id, &use, &err), 0);
	}
	return NULL;
}

/* However many ask at once, a quota is a quota. */
static void test_crowd(void **state)
{
	struct fixture *f = *state;
	struct worker workers[4];
	pthread_t threads[4];
	int done = 0;

	add_tenant(f, "acme", (struct bj_quota){ .cpu_seconds = 50 });
	for (int i = 0; i < 4; i++) {
		workers[i] = (struct worker){ .f = f, .number = i };
		pthread_create(&threads[i], NULL, reserve_many, &workers[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		done += workers[i].done;
	}
	assert_int_equal(done, 50);
}

/* What a process held when it died is given back; what the living hold is not. */
static void test_death(void **state)
{
	struct fixture *f = *state;
	struct bj_err err = { 0 };
	unsigned int retry;
	int pipes[2];
	char byte;

	add_tenant(f, "acme", (struct bj_quota){ .concurrency = 2 });
	close_store(f);
	assert_int_equal(pipe(pipes), 0);

	const pid_t pid = fork();

	if (pid == 0) {
		open_store(f);
		if (reserve(f, "acme", "dead", (struct bj_use){ 0 }, &retry, &err) < 0 ||
		    write(pipes[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	open_store(f);
	assert_int_equal(reserve(f, "acme", "mine", (struct bj_use){ 0 }, &retry, &err), 0);
	assert_int_equal(bj_quota_sweep(&f->store, &f->owner, &PRICE, NULL, NULL, &err), 0);
	assert_int_equal(reserve(f, "acme", "more", (struct bj_use){ 0 }, &retry, &err),
			 -BJ_E_LIMIT);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(bj_quota_sweep(&f->store, &f->owner, &PRICE, NULL, NULL, &err), 1);
	assert_int_equal(reserve(f, "acme", "more", (struct bj_use){ 0 }, &retry, &err), 0);
	close(pipes[0]);
	close(pipes[1]);
}

static bool only_under_way(void *ctx, const char *id)
{
	return strcmp(id, ctx) == 0;
}

/* What its own process could not settle is settled later, charged by what the records say, and
 * never twice. */
static void test_unsettled(void **state)
{
	static const char ended[] =
		"INSERT INTO executions (id, through, language, backend, policy, trusted,"
		" script_sha256, risk, effective_risk, state, cause, duration_us, cpu_us,"
		" peak_memory) VALUES ('ended', 0, 0, 0, 0, 0, '', 0, 0, 3, 1, 2000000, 1500000, "
		"0)";
	struct fixture *f = *state;
	struct bj_err err = { 0 };
	const struct bj_use use = { .runs = 1, .cpu_us = 1500000 };
	char under_way[] = "runs";
	json_t *list = NULL;
	unsigned int retry;

	add_tenant(f, "acme", (struct bj_quota){ .concurrency = 3 });
	assert_int_equal(bj_store_exec(f->store.db, ended, &err), 0);
	for (size_t i = 0; i < 3; i++) {
		static const char *const ids[] = { "ended", "never", "runs" };

		assert_int_equal(reserve(f, "acme", ids[i], (struct bj_use){ .cpu_us = 9000000 },
					 &retry, &err),
				 0);
	}
	assert_int_equal(bj_quota_sweep(&f->store, &f->owner, &PRICE, NULL, NULL, &err), 0);
	assert_int_equal(
		bj_quota_sweep(&f->store, &f->owner, &PRICE, only_under_way, under_way, &err), 2);
	assert_int_equal(bj_quota_settle(&f->store, "acme", "ended", &use, &err), 0);
	assert_int_equal(bj_usage_list(&f->store, "acme", 0, false, "EUR", &list, &err), 0);

	const json_t *row = json_array_get(json_object_get(list, "usage"), 0);

	assert_int_equal(json_integer_value(json_object_get(row, "runs")), 1);
	assert_true(json_number_value(json_object_get(row, "cpu_seconds")) == 1.5);
	json_decref(list);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_tenants),     TEST(test_roles),     TEST(test_keys),
		TEST(test_secrets),     TEST(test_rate),      TEST(test_concurrency),
		TEST(test_the_largest), TEST(test_usage),     TEST(test_crowd),
		TEST(test_day),         TEST(test_usage),     TEST(test_crowd),
		TEST(test_death),       TEST(test_unsettled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
