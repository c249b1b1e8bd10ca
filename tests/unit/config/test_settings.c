/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "config/settings.h"
#include "config/table.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Each test starts with an empty environment and a directory of its own. */
struct place {
	char dir[64];
	char file[96];
};

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	clearenv();
	strncpy(place->dir, "/tmp/belljar-settings-XXXXXX", sizeof(place->dir) - 1);
	if (!mkdtemp(place->dir))
		return -1;
	snprintf(place->file, sizeof(place->file), "%s/b.yaml", place->dir);
	setenv("XDG_CONFIG_HOME", place->dir, 1);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;

	unlink(place->file);
	rmdir(place->dir);
	free(place);
	return 0;
}

static void write_file(const char *path, const char *data, size_t size)
{
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(bj_fd_write_all(fd, data, size), 0);
}

static struct bj_settings *load_text(const struct place *place, const char *yaml)
{
	struct bj_settings *settings = NULL;
	struct bj_err err = { 0 };

	write_file(place->file, yaml, strlen(yaml));
	if (bj_settings_load(place->file, NULL, 0, &settings, &err) < 0)
		fail_msg("%s", err.msg);
	return settings;
}

/* Loading must fail, and the message must hold @expected. */
static void refused(const char *path, const struct bj_override *o, size_t n, const char *expected)
{
	struct bj_settings *settings = (void *)0x1;
	struct bj_err err = { 0 };
	const int r = bj_settings_load(path, o, n, &settings, &err);

	if (r == 0)
		fail_msg("accepted, though it should say: %s", expected);
	assert_int_equal(r, -err.code);
	assert_ptr_equal(settings, (void *)0x1);
	if (!strstr(err.msg, expected))
		fail_msg("\"%s\" does not say \"%s\"", err.msg, expected);
	assert_int_equal(bj_settings_load(path, o, n, &settings, NULL), r);
}

static void refused_yaml(const struct place *place, const char *yaml, const char *expected)
{
	char full[256];

	write_file(place->file, yaml, strlen(yaml));
	snprintf(full, sizeof(full), "%s:%s", place->file, expected);
	refused(place->file, NULL, 0, full);
}

/* SCRP-04, SCRP-07, SX-OUT, VALD-05: what ships. */
static void defaults(void **state)
{
	struct bj_settings *s;

	(void)state;
	assert_int_equal(bj_settings_load(NULL, NULL, 0, &s, NULL), 0);
	assert_int_equal(s->backend, BJ_BACKEND_NATIVE);
	assert_string_equal(s->profile, "default");
	assert_true(s->limits.memory == 512ull << 20);
	assert_int_equal(s->limits.cpu_milli, 1000);
	assert_int_equal(s->limits.pids, 100);
	assert_int_equal(s->limits.timeout_ms, 60000);
	assert_int_equal(s->max_timeout_ms, 300000);
	assert_int_equal(s->limits.tmp_size, 64 << 20);
	assert_int_equal(s->limits.max_output, 20480);
	assert_int_equal(s->limits.output_cap, 64 << 20);
	assert_int_equal(s->limits.out_files, 100);
	assert_int_equal(s->limits.out_bytes, 64 << 20);
	assert_int_equal(s->max_script_chars, 10000);
	assert_int_equal(s->policy, BJ_POLICY_DEFAULT);
	assert_int_equal(s->imports, BJ_IMPORTS_AUTO);
	assert_int_equal(s->blocked_imports.n, 0);
	assert_int_equal(s->require, BJ_REQUIRE_FULL);
	assert_int_equal(s->proc, BJ_PROC_PID);
	assert_string_equal(s->python, "/usr/bin/python3");
	assert_string_equal(s->bash, "/usr/bin/bash");
	assert_null(s->cgroup);
	assert_null(s->seccomp);
	assert_int_equal(s->store_code, BJ_STORE_ON_ERROR);
	assert_false(s->allow_unsafe);
	assert_int_equal(s->uid_base, 1900000000);
	bj_settings_free(s);
}

/* CFG: nested keys, quotes, lists, comments. */
static void yaml_values(void **state)
{
	struct bj_settings *s = load_text(*state, "# a comment\n"
						  "backend: local\n"
						  "limits: {memory: 1g, cpus: 0.5}\n"
						  "limits.pids: \"64\"\n"
						  "check:\n"
						  "  blocked_imports: [os, urllib.request]\n"
						  "  policy: strict\n"
						  "native:\n"
						  "docker:\n"
						  "  image: ~\n"
						  "seccomp: my.json\n"
						  "allow_unsafe: yes\n");
	const struct place *place = *state;
	char seccomp[128];

	assert_int_equal(s->backend, BJ_BACKEND_NATIVE);
	assert_true(s->limits.memory == 1ull << 30);
	assert_int_equal(s->limits.cpu_milli, 500);
	assert_int_equal(s->limits.pids, 64);
	assert_int_equal(s->blocked_imports.n, 2);
	assert_string_equal(s->blocked_imports.items[1], "urllib.request");
	assert_null(s->blocked_imports.items[2]);
	assert_int_equal(s->policy, BJ_POLICY_STRICT);
	assert_null(s->docker_image);
	assert_true(s->allow_unsafe);
	/* A path in a file starts where the file stands. */
	snprintf(seccomp, sizeof(seccomp), "%s/my.json", place->dir);
	assert_string_equal(s->seccomp, seccomp);
	bj_settings_free(s);
}

/* CFG: a bad value is refused with file and line, the key and what is allowed. */
static void yaml_refusals(void **state)
{
	static const struct {
		const char *yaml, *expected;
	} cases[] = {
		{ "limits:\n  memory: 1k\n", "2: limits.memory: \"1k\" is not allowed; allowed: a "
					     "size such as 512MiB or 1G, from 16MiB to 1TiB" },
		{ "limits: {memory: 99TiB}\n", "1: limits.memory" },
		{ "limits: {memory: 99999999999999999999}\n", "1: limits.memory" },
		{ "limits: {pids: 3}\n", "1: limits.pids: \"3\" is not allowed; allowed: a whole "
					 "number from 4 to 1000000" },
		{ "limits: {pids: 4294967396}\n", "1: limits.pids" },
		{ "limits: {timeout: 0}\n", "1: limits.timeout" },
		{ "limits: {timeout: -1}\n", "1: limits.timeout" },
		{ "limits: {timeout: .nan}\n", "1: limits.timeout" },
		{ "limits: {timeout: }\n", "1: limits.timeout: a value is missing" },
		{ "limits: {timeout: [60]}\n", "1: limits.timeout: a single value" },
		{ "limits: {timeout: {a: 1}}\n", "1: limits.timeout: a single value" },
		{ "limits: 5\n", "1: limits: this is a section" },
		{ "limits:\n  memry: 1G\n",
		  "2: limits.memry: there is no such setting; did you mean "
		  "limits.memory?" },
		{ "timeout: 5\n",
		  "1: timeout: there is no such setting; did you mean limits.timeout?" },
		{ "zzzzzzzz: {a: [1, 2]}\n",
		  "1: zzzzzzzz: there is no such setting; `belljar config" },
		{ "limits: {pids: 5}\nlimits.pids: 6\n",
		  "2: limits.pids: this key stands in line 1" },
		{ "limits: {pids: 5}\nlimits: {cpus: 1}\n",
		  "2: limits: this key stands in line 1" },
		{ "limits:\n  pids: 5\nlimits:\n  cpus: 1\n",
		  "3: limits: this key stands in line 1" },
		{ "limits:\n  pids:\n    5\n  pids:\n    6\n",
		  "4: limits.pids: this key stands in line 2" },
		{ "profiles:\n  a: {pids: 5}\nprofiles:\n  b: {pids: 5}\n",
		  "3: profiles: this key stands in line 1" },
		{ "profiles: {}\nprofiles: {}\n", "2: profiles: this key stands in line 1" },
		{ "backend: e2b\n",
		  "1: backend: e2b, the cloud service, comes in a later version" },
		{ "backend: podman\n", "1: backend: \"podman\" is not allowed; allowed: native, "
				       "docker or direct" },
		{ "allow_unsafe: maybe\n",
		  "1: allow_unsafe: \"maybe\" is not allowed; allowed: true" },
		{ "native: {python: python3}\n", "1: native.python" },
		{ "native: {cgroup: /a/../b}\n", "1: native.cgroup" },
		{ "native: {uid_base: 0}\n", "1: native.uid_base" },
		{ "native: {uid_base: 2147483647}\n", "1: native.uid_base: uid_base + uid_count" },
		{ "limits: {max_output: 1M, output_cap: 4k}\n", "1: limits.max_output: more than" },
		{ "log_level: loud\n", "1: log_level" },
		{ "image: \"a b\"\n", "1: image" },
		{ "image: --privileged\n", "1: image" },
		{ "check: {blocked_imports: [os, \"a b\"]}\n", "1: check.blocked_imports" },
		{ "check: {blocked_imports: [\"os,sys\"]}\n", "1: check.blocked_imports: an item" },
		{ "check: {blocked_imports: [[os]]}\n", "1: check.blocked_imports" },
		{ "check: {rules_file: \"a\\nb\"}\n", "1: check.rules_file: \"a?b\"" },
		{ "log_level: \"a\\0b\"\n", "1: log_level: the value holds a NUL byte" },
		{ "a: &x [1]\n", "1: anchors, aliases and tags" },
		{ "log_level: *x\n", "1: anchors, aliases and tags" },
		{ "log_level: !!str warn\n", "1: anchors, aliases and tags" },
		{ "- a\n- b\n", "1: settings are `key: value` lines" },
		{ "just text\n", "1: settings are `key: value` lines" },
		{ "log_level: warn\n---\nlog_level: info\n", "2: a second document" },
		{ "check: {blocked_imports: [\n", "2: this is not YAML" },
		{ "log_level: warn\n\tx: 1\n", "2: this is not YAML" },
		{ "\xff\xfe\xfd", "1: this is not YAML" },
		{ "[a]: 1\n", "1: a single value" },
	};

	for (size_t i = 0; i < BJ_ARRAY_SIZE(cases); i++)
		refused_yaml(*state, cases[i].yaml, cases[i].expected);
}

/* CFG: bombs and floods end early. */
static void hostile_files(void **state)
{
	const struct place *place = *state;
	AUTO_FREE char *flood = malloc(400000);

	memset(flood, '#', 400000);
	write_file(place->file, flood, 400000);
	refused(place->file, NULL, 0, "is larger than 256 KiB");
	memset(flood, '[', 400000);
	write_file(place->file, flood, 200000);
	refused(place->file, NULL, 0, ":1: settings are");
	memset(flood, 'k', 400000);
	write_file(place->file, flood, 1000);
	refused(place->file, NULL, 0, ":1: ");
	refused("/dev/zero", NULL, 0, "is larger than");
	refused(place->dir, NULL, 0, "Is a directory");
	refused_yaml(place, "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nlog_level: *c\n",
		     "1: anchors, aliases and tags");
	refused("/nowhere/b.yaml", NULL, 0, "cannot open the settings file /nowhere/b.yaml");
}

/* CFG: ${NAME} and ${NAME:-default}. */
static void expansion(void **state)
{
	struct bj_settings *s;

	setenv("LEVEL", "info", 1);
	setenv("EMPTY", "", 1);
	setenv("NESTED", "${LEVEL}", 1);
	s = load_text(*state, "log_level: ${LEVEL}\n"
			      "limits: {memory: \"${MEM:-256}MiB\", pids: \"${EMPTY:-7}\"}\n"
			      "native: {python: \"/opt/$${x}/${LEVEL}/$HOME\"}\n"
			      "check: {blocked_imports: [\"${LEVEL}\", os]}\n");
	assert_string_equal(s->log_level, "info");
	assert_int_equal(s->limits.memory, 256 << 20);
	assert_int_equal(s->limits.pids, 7);
	assert_string_equal(s->python, "/opt/${x}/info/$HOME");
	assert_string_equal(s->blocked_imports.items[0], "info");
	bj_settings_free(s);

	refused_yaml(*state, "\nlog_level: ${NOT_SET}\n",
		     "2: log_level: the variable NOT_SET is not set; set it or write "
		     "${NOT_SET:-default}");
	refused_yaml(*state, "log_level: ${EMPTY}\n", "1: log_level: the variable EMPTY");
	refused_yaml(*state, "log_level: ${NESTED}\n", "1: log_level: \"${NESTED}\"");
	refused_yaml(*state, "log_level: ${LEVEL\n", "1: log_level: a ${...} is broken");
	refused_yaml(*state, "log_level: \"${}\"\n", "1: log_level: a ${...} is broken");
	refused_yaml(*state, "log_level: \"${1A}\"\n", "1: log_level: a ${...} is broken");
	refused_yaml(*state, "log_level: \"${A:?x}\"\n", "1: log_level: a ${...} is broken");
}

/* A message shows what the file says, not what a variable holds. */
static void messages_keep_secrets(void **state)
{
	const struct place *place = *state;
	struct bj_settings *s;
	struct bj_err err;

	setenv("TOKEN", "hunter2", 1);
	write_file(place->file, "log_level: ${TOKEN}\n", 20);
	assert_true(bj_settings_load(place->file, NULL, 0, &s, &err) < 0);
	assert_null(strstr(err.msg, "hunter2"));
	assert_non_null(strstr(err.msg, "${TOKEN}"));
}

static void expansion_has_a_ceiling(void **state)
{
	AUTO_FREE char *large = calloc(1, 20001);

	memset(large, 'a', 20000);
	setenv("LARGE", large, 1);
	refused_yaml(*state, "log_level: ${LARGE}\n", "1: log_level: the value is longer than");
}

/* CFG: the names of older systems. */
static void environment(void **state)
{
	struct bj_settings *s;

	(void)state;
	setenv("SANDBOX_TYPE", "docker", 1);
	setenv("SANDBOX_TIMEOUT_SEC", "30", 1);
	setenv("SANDBOX_MAX_OUTPUT_KB", "5", 1);
	setenv("SANDBOX_BLOCK_DANGEROUS_IMPORTS", "True", 1);
	setenv("SANDBOX_STORE_CODE", "always", 1);
	setenv("DOCKER_CPU_LIMIT", "1.5", 1);
	setenv("DOCKER_MEMORY_LIMIT", "256m", 1);
	setenv("DOCKER_IMAGE", "python:3.12-slim", 1);
	setenv("BELLJAR_LIMITS_PIDS", "50", 1);
	setenv("BELLJAR_CHECK_BLOCKED_IMPORTS", "os, sys", 1);
	setenv("BELLJAR_LOG_LEVEL", "", 1);
	assert_int_equal(bj_settings_load(NULL, NULL, 0, &s, NULL), 0);
	assert_int_equal(s->backend, BJ_BACKEND_DOCKER);
	assert_int_equal(s->limits.timeout_ms, 30000);
	assert_int_equal(s->limits.max_output, 5120);
	assert_int_equal(s->imports, BJ_IMPORTS_BLOCK);
	assert_int_equal(s->store_code, BJ_STORE_ALWAYS);
	assert_int_equal(s->limits.cpu_milli, 1500);
	assert_int_equal(s->limits.memory, 256 << 20);
	assert_string_equal(s->docker_image, "python:3.12-slim");
	assert_int_equal(s->limits.pids, 50);
	assert_int_equal(s->blocked_imports.n, 2);
	assert_string_equal(s->blocked_imports.items[1], "sys");
	assert_string_equal(s->log_level, "warn");
	bj_settings_free(s);

	setenv("SANDBOX_BLOCK_DANGEROUS_IMPORTS", "false", 1);
	assert_int_equal(bj_settings_load(NULL, NULL, 0, &s, NULL), 0);
	assert_int_equal(s->imports, BJ_IMPORTS_WARN);
	bj_settings_free(s);
}

/* CFG, SX-E2B: a bad variable is named. */
static void environment_refusals(void **state)
{
	static const struct {
		const char *name, *value, *expected;
	} cases[] = {
		{ "SANDBOX_TYPE", "e2b",
		  "SANDBOX_TYPE: backend: e2b, the cloud service, comes in a "
		  "later version" },
		{ "SANDBOX_TYPE", "x", "SANDBOX_TYPE: backend: \"x\" is not allowed" },
		{ "SANDBOX_TIMEOUT_SEC", "0", "SANDBOX_TIMEOUT_SEC: limits.timeout: \"0\"" },
		{ "SANDBOX_TIMEOUT_SEC", "soon", "SANDBOX_TIMEOUT_SEC: limits.timeout: \"soon\"" },
		{ "SANDBOX_MAX_OUTPUT_KB", "20k", "SANDBOX_MAX_OUTPUT_KB: limits.max_output" },
		{ "SANDBOX_MAX_OUTPUT_KB", "0", "SANDBOX_MAX_OUTPUT_KB: limits.max_output: \"0\"" },
		{ "SANDBOX_BLOCK_DANGEROUS_IMPORTS", "2",
		  "SANDBOX_BLOCK_DANGEROUS_IMPORTS: check.imports: \"2\" is not allowed; allowed: "
		  "true or false" },
		{ "SANDBOX_STORE_CODE", "sometimes", "SANDBOX_STORE_CODE: store_code" },
		{ "DOCKER_MEMORY_LIMIT", "1", "DOCKER_MEMORY_LIMIT: limits.memory" },
		{ "DOCKER_CPU_LIMIT", "0", "DOCKER_CPU_LIMIT: limits.cpus" },
		{ "DOCKER_IMAGE", "a b", "DOCKER_IMAGE: docker.image" },
		{ "BELLJAR_NATIVE_UID_BASE", "1", "BELLJAR_NATIVE_UID_BASE: native.uid_base" },
		{ "BELLJAR_CONFIG", "/nowhere", "/nowhere, which BELLJAR_CONFIG names" },
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(cases); i++) {
		setenv(cases[i].name, cases[i].value, 1);
		refused(NULL, NULL, 0, cases[i].expected);
		unsetenv(cases[i].name);
	}
}

/* CFG: flag over environment over file over profile over default. */
static void precedence(void **state)
{
	const struct place *place = *state;
	const struct bj_override flag = { "limits.pids", "30", "pids" };
	struct bj_settings *s;
	static const char yaml[] = "profile: analysis\nlimits: {pids: 10, cpus: 2, timeout: 5}\n";

	write_file(place->file, yaml, strlen(yaml));
	setenv("BELLJAR_LIMITS_PIDS", "20", 1);
	setenv("SANDBOX_TIMEOUT_SEC", "7", 1);
	setenv("BELLJAR_LIMITS_TIMEOUT", "8", 1);
	assert_int_equal(bj_settings_load(place->file, &flag, 1, &s, NULL), 0);
	assert_int_equal(s->limits.pids, 30);
	assert_int_equal(s->limits.timeout_ms, 8000);
	assert_int_equal(s->limits.cpu_milli, 2000);
	assert_true(s->limits.memory == 2ull << 30);
	assert_int_equal(s->limits.out_files, 100);
	AUTO_FREE char *show = bj_settings_show(s, NULL, false);
	char line[200];

	assert_non_null(strstr(show, "# --pids\n"));
	assert_non_null(strstr(show, "# BELLJAR_LIMITS_TIMEOUT\n"));
	assert_non_null(strstr(show, "# profile analysis\n"));
	assert_non_null(strstr(show, "# built in\n"));
	snprintf(line, sizeof(line), "# %s:2\n", place->file);
	assert_non_null(strstr(show, line));
	bj_settings_free(s);

	const struct bj_override bad[] = { { "limits.pids", "0", "pids" },
					   { "limits.none", "1", "none" } };

	refused(NULL, bad, 1, "--pids: limits.pids: \"0\" is not allowed");
	refused(NULL, bad + 1, 1, "--none: there is no setting limits.none");
}

/* DS-CFG: named profiles. */
static void profiles(void **state)
{
	const struct place *place = *state;
	const struct bj_override analysis = { "profile", "analysis", "profile" };
	const struct bj_override none = { "profile", "nope", "profile" };
	struct bj_settings *s;

	assert_int_equal(bj_settings_load(NULL, &analysis, 1, &s, NULL), 0);
	assert_true(s->limits.memory == 2ull << 30);
	assert_int_equal(s->limits.cpu_milli, 500);
	assert_int_equal(s->limits.timeout_ms, 600000);
	assert_int_equal(s->max_timeout_ms, 600000);
	bj_settings_free(s);

	s = load_text(place, "profile: small\n"
			     "profiles:\n"
			     "  small: {memory: 32MiB, pids: \"${N:-8}\"}\n"
			     "  analysis: {memory: 4GiB}\n");
	assert_int_equal(s->limits.memory, 32 << 20);
	assert_int_equal(s->limits.pids, 8);
	assert_int_equal(s->limits.timeout_ms, 60000);

	AUTO_FREE char *show = bj_settings_show(s, NULL, false);
	char origin[200];

	snprintf(origin, sizeof(origin), "# profile small (%s:3)\n", place->file);
	assert_non_null(strstr(show, origin));
	bj_settings_free(s);

	/* A file changes a shipped profile and keeps the rest of it. */
	assert_int_equal(bj_settings_load(place->file, &analysis, 1, &s, NULL), 0);
	assert_true(s->limits.memory == 4ull << 30);
	assert_int_equal(s->limits.cpu_milli, 500);
	bj_settings_free(s);

	refused(NULL, &none, 1,
		"--profile: profile: there is no profile \"nope\"; there are: "
		"default, analysis");
	refused(place->file, &none, 1, "there are: default, analysis, small");
	refused_yaml(place, "profiles: {a: {memory: 1}}\n", "1: profiles.a.memory: \"1\"");
	refused_yaml(place, "profiles: {a: {memry: 1G}}\n", "1: profiles.a.memry");
	refused_yaml(place, "profiles: {a: {pids: 5, pids: 6}}\n", "1: profiles.a.pids: this key");
	refused_yaml(place, "profiles: {a: {}, a: {}}\n", "1: profiles.a: there is a profile");
	refused_yaml(place, "profiles: {a: 5}\n", "1: profiles.a: a profile holds limits");
	refused_yaml(place, "profiles: [a]\n", "1: profiles: this section holds profiles");
	refused_yaml(place, "profiles: {\"a b\": {}}\n", "1: profiles: \"a b\"");
}

static void profiles_have_a_ceiling(void **state)
{
	AUTO_BUF struct bj_buf yaml = { 0 };

	bj_buf_puts(&yaml, "profiles:\n");
	for (int i = 0; i < 65; i++)
		bj_buf_printf(&yaml, "  p%d: {}\n", i);
	refused_yaml(*state, yaml.data, "66: profiles.p64: there are too many profiles");
}

/* A file that was only found must be ours. */
static void found_files(void **state)
{
	const struct place *place = *state;
	char dir[96], file[128];
	struct bj_settings *s;

	snprintf(dir, sizeof(dir), "%s/belljar", place->dir);
	snprintf(file, sizeof(file), "%s/config.yaml", dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	write_file(file, "log_level: debug\n", 17);
	assert_int_equal(bj_settings_load(NULL, NULL, 0, &s, NULL), 0);
	assert_string_equal(s->log_level, "debug");
	bj_settings_free(s);
	assert_int_equal(chmod(file, 0666), 0);
	refused(NULL, NULL, 0, "can be written by everybody");
	if (geteuid() == 0) {
		assert_int_equal(chmod(file, 0644), 0);
		assert_int_equal(chown(file, 12345, 12345), 0);
		refused(NULL, NULL, 0, "belongs to another user");
	}
	unlink(file);
	rmdir(dir);
}

/* SCRP-07 */
static void timeouts_are_clamped(void **state)
{
	const struct bj_override o = { "limits.timeout", "900", "timeout" };
	struct bj_settings *s;

	(void)state;
	assert_int_equal(bj_settings_load(NULL, &o, 1, &s, NULL), 0);
	assert_int_equal(s->limits.timeout_ms, 900000);
	assert_int_equal(bj_settings_clamp_timeout(s, 0), 300000);
	assert_int_equal(bj_settings_clamp_timeout(s, 1), 1);
	assert_int_equal(bj_settings_clamp_timeout(s, UINT64_MAX), 300000);
	bj_settings_free(s);
}

/* CFG: the explanation is YAML that loads and changes nothing. */
static void explanation_is_the_default(void **state)
{
	AUTO_FREE char *yaml = bj_settings_explain(NULL, false);
	struct bj_settings *explained = load_text(*state, yaml), *plain;

	assert_int_equal(bj_settings_load(NULL, NULL, 0, &plain, NULL), 0);

	AUTO_FREE char *a = bj_settings_show(explained, NULL, false);
	AUTO_FREE char *b = bj_settings_show(plain, NULL, false);
	char *line_a, *line_b, *rest_a = a, *rest_b = b;

	strsep(&rest_a, "\n"); /* the file's name */
	strsep(&rest_b, "\n");
	while ((line_a = strsep(&rest_a, "\n")) && (line_b = strsep(&rest_b, "\n"))) {
		line_a[strcspn(line_a, "#")] = '\0';
		line_b[strcspn(line_b, "#")] = '\0';
		assert_string_equal(line_a, line_b);
	}
	bj_settings_free(explained);
	bj_settings_free(plain);
}

/* Keys are unique and those of a section stand together. */
static void table_is_sound(void **state)
{
	(void)state;
	for (size_t i = 0; i < bj_table_size; i++) {
		AUTO_FREE char *allowed = bj_table_allowed(&bj_table[i]);

		assert_ptr_equal(bj_table_find(bj_table[i].key), &bj_table[i]);
		assert_true(strlen(allowed) > 0 && strlen(allowed) < 120);
		assert_true(strlen(bj_table[i].help) > 20);
	}
}

/* Start-up: without a file, loading is a matter of microseconds. */
static void loading_is_quick(void **state)
{
	enum { ROUNDS = 2000 };
	uint64_t best = UINT64_MAX;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		const uint64_t start = bj_clock_now();
		struct bj_settings *s;

		assert_int_equal(bj_settings_load(NULL, NULL, 0, &s, NULL), 0);
		bj_settings_free(s);

		const uint64_t took = bj_clock_now() - start;

		best = took < best ? took : best;
	}
	print_message("best of %d: %lu ns\n", ROUNDS, (unsigned long)best);
	assert_true(best < 1000000);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(defaults),
		TEST(yaml_values),
		TEST(yaml_refusals),
		TEST(hostile_files),
		TEST(expansion),
		TEST(messages_keep_secrets),
		TEST(expansion_has_a_ceiling),
		TEST(environment),
		TEST(environment_refusals),
		TEST(precedence),
		TEST(profiles),
		TEST(profiles_have_a_ceiling),
		TEST(found_files),
		TEST(timeouts_are_clamped),
		TEST(explanation_is_the_default),
		TEST(table_is_sound),
		TEST(loading_is_quick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
