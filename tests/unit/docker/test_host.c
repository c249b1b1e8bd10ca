/* SPDX-License-Identifier: Apache-2.0 */

/* SX-DOCKER: where the engine is looked for, as the docker command does. */

#include "unit.h"

#include "base/cleanup.h"
#include "docker/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/bj-host-XXXXXX";

static void make_dir(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	mkdir(path, 0700);
}

static void write_file(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	AUTO_FILE FILE *f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
}

static int clear(void **state)
{
	static const char *const names[] = { "DOCKER_HOST",       "DOCKER_CONTEXT",
					     "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH",
					     "XDG_RUNTIME_DIR",   "DOCKER_CONFIG" };

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(names); i++)
		unsetenv(names[i]);
	setenv("HOME", top, 1);
	return 0;
}

static void a_setting_comes_before_the_environment(void **state)
{
	struct bj_docker_host host = { 0 };

	(void)state;
	setenv("DOCKER_HOST", "unix:///from/environment", 1);
	assert_int_equal(bj_docker_host_find("unix:///from/setting", &host, NULL), 0);
	assert_string_equal(host.socket, "/from/setting");
	bj_docker_host_done(&host);
	assert_int_equal(bj_docker_host_find(NULL, &host, NULL), 0);
	assert_string_equal(host.socket, "/from/environment");
	bj_docker_host_done(&host);
}

static void a_host_without_a_name_is_none(void **state)
{
	static const char *const texts[] = { "http://", "https://", "tcp://", "unix://", "" };
	struct bj_docker_host host = { 0 };

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(texts); i++)
		assert_int_equal(bj_docker_host_parse(texts[i], &host, NULL), -BJ_E_INVALID);
}

static void tls_takes_the_files_of_a_directory(void **state)
{
	struct bj_docker_host host = { 0 };
	char ca[128];

	(void)state;
	setenv("DOCKER_HOST", "tcp://engine:2376", 1);
	setenv("DOCKER_TLS_VERIFY", "1", 1);
	setenv("DOCKER_CERT_PATH", "/certs", 1);
	assert_int_equal(bj_docker_host_find(NULL, &host, NULL), 0);
	assert_string_equal(host.url, "https://engine:2376");
	assert_string_equal(host.ca, "/certs/ca.pem");
	assert_string_equal(host.cert, "/certs/cert.pem");
	assert_string_equal(host.key, "/certs/key.pem");
	bj_docker_host_done(&host);
	/* Without a directory of their own they stand beside the command's settings. */
	unsetenv("DOCKER_CERT_PATH");
	assert_int_equal(bj_docker_host_find(NULL, &host, NULL), 0);
	snprintf(ca, sizeof(ca), "%s/.docker/ca.pem", top);
	assert_string_equal(host.ca, ca);
	bj_docker_host_done(&host);
	/* A socket of this machine needs none. */
	setenv("DOCKER_HOST", "unix:///s", 1);
	assert_int_equal(bj_docker_host_find(NULL, &host, NULL), 0);
	assert_null(host.ca);
	bj_docker_host_done(&host);
}

static void a_context_is_found_by_the_hash_of_its_name(void **state)
{
	struct bj_docker_host host = { 0 };
	struct bj_err err = { 0 };

	(void)state;
	setenv("DOCKER_CONFIG", top, 1);
	write_file("config.json", "{\"currentContext\": \"mine\"}");
	assert_int_equal(bj_docker_host_find(NULL, &host, &err), -BJ_E_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "context mine does not exist"));
	/* The one that is asked for by name, which is not there either. */
	setenv("DOCKER_CONTEXT", "other", 1);
	assert_int_equal(bj_docker_host_find(NULL, &host, &err), -BJ_E_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "context other"));
	setenv("DOCKER_CONTEXT", "default", 1);
	assert_int_equal(bj_docker_host_find(NULL, &host, &err), 0);
	assert_string_equal(host.socket, "/var/run/docker.sock");
	bj_docker_host_done(&host);
}

static void broken_settings_of_the_command_are_as_none(void **state)
{
	static const char *const texts[] = { "",
					     "[",
					     "{}",
					     "{\"currentContext\": 7}",
					     "{\"currentContext\": \"\"}",
					     "{\"currentContext\": \"default\"}" };
	struct bj_docker_host host = { 0 };

	(void)state;
	setenv("DOCKER_CONFIG", top, 1);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(texts); i++) {
		write_file("config.json", texts[i]);
		assert_int_equal(bj_docker_host_find(NULL, &host, NULL), 0);
		assert_string_equal(host.socket, "/var/run/docker.sock");
		bj_docker_host_done(&host);
	}
}

static void the_usual_socket_comes_before_a_rootless_one(void **state)
{
	struct bj_docker_host host = { 0 };
	char rootless[128];

	(void)state;
	setenv("XDG_RUNTIME_DIR", top, 1);
	write_file("docker.sock", "");
	snprintf(rootless, sizeof(rootless), "%s/docker.sock", top);
	assert_int_equal(bj_docker_host_find(NULL, &host, NULL), 0);
	assert_string_equal(host.socket, access("/var/run/docker.sock", F_OK) == 0
						 ? "/var/run/docker.sock"
						 : rootless);
	bj_docker_host_done(&host);
}

static int set_up(void **state)
{
	if (!mkdtemp(top))
		return 1;
	make_dir(".docker");
	return clear(state);
}

static int tear_down(void **state)
{
	static const char *const made[] = { "config.json", "docker.sock", ".docker", "" };
	char path[256];

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(made); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, made[i]);
		remove(path);
	}
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_setting_comes_before_the_environment, clear),
		cmocka_unit_test_setup(a_host_without_a_name_is_none, clear),
		cmocka_unit_test_setup(tls_takes_the_files_of_a_directory, clear),
		cmocka_unit_test_setup(a_context_is_found_by_the_hash_of_its_name, clear),
		cmocka_unit_test_setup(broken_settings_of_the_command_are_as_none, clear),
		cmocka_unit_test_setup(the_usual_socket_comes_before_a_rootless_one, clear),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
