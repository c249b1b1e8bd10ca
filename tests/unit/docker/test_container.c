/* SPDX-License-Identifier: Apache-2.0 */

/* SX-DOCKER: what is sent to an engine, without one. */

#include "unit.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "docker/client.h"
#include "docker/container.h"
#include "docker/host.h"
#include "docker/tar.h"

#include <jansson.h>
#include <string.h>

static void versions_are_agreed_on(void **state)
{
	char version[16];
	struct bj_err err = { 0 };

	(void)state;
	assert_int_equal(bj_docker_agree("1.41", version, &err), 0);
	assert_string_equal(version, "1.41");
	assert_int_equal(bj_docker_agree("1.99", version, &err), 0);
	assert_string_equal(version, "1.51");
	assert_int_equal(bj_docker_agree("1.40", version, &err), -BJ_E_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "too old"));
	assert_int_equal(bj_docker_agree("", version, &err), -BJ_E_UNSUPPORTED);
	assert_int_equal(bj_docker_agree("2.0", version, &err), -BJ_E_UNSUPPORTED);
	assert_int_equal(bj_docker_agree("1.41x", version, &err), -BJ_E_UNSUPPORTED);
}

static void hosts_are_read(void **state)
{
	struct bj_docker_host host = { 0 };
	struct bj_err err = { 0 };

	(void)state;
	assert_int_equal(bj_docker_host_parse("unix:///run/d.sock", &host, &err), 0);
	assert_string_equal(host.socket, "/run/d.sock");
	bj_docker_host_done(&host);
	assert_int_equal(bj_docker_host_parse("tcp://localhost:2376/", &host, &err), 0);
	assert_null(host.socket);
	assert_string_equal(host.url, "http://localhost:2376");
	bj_docker_host_done(&host);
	assert_int_equal(bj_docker_host_parse("ssh://somewhere", &host, &err), -BJ_E_INVALID);
	assert_int_equal(bj_docker_host_parse("unix://relative", &host, &err), -BJ_E_INVALID);
}

static const struct bj_wire_launch LAUNCH = {
	.memory = 512 << 20,
	.tmp_size = 64 << 20,
	.cpu_milli = 500,
	.pids = 100,
	.timeout_ns = 1000000000,
};

/* Every constraint is in the request; SCRP-03, SCRP-04, SCRP-05, DS-FS. */
static void the_template_holds_every_constraint(void **state)
{
	const struct bj_container_plan plan = { .launch = &LAUNCH,
						.image = "i",
						.runtime = "crun",
						.seccomp = "{\"a\":\"b\"}",
						.owner = "o",
						.run_id = "r",
						.expires = 7 };
	AUTO_FREE char *text = bj_container_body(&plan);
	json_t *body = json_loads(text, 0, NULL);
	json_t *host = json_object_get(body, "HostConfig");

	(void)state;
	assert_non_null(host);
	assert_string_equal(json_string_value(json_object_get(host, "NetworkMode")), "none");
	assert_int_equal(json_integer_value(json_object_get(host, "Memory")), 512 << 20);
	assert_int_equal(json_integer_value(json_object_get(host, "MemorySwap")), 512 << 20);
	assert_int_equal(json_integer_value(json_object_get(host, "NanoCpus")), 500000000);
	assert_int_equal(json_integer_value(json_object_get(host, "PidsLimit")), 100);
	assert_true(json_is_true(json_object_get(host, "ReadonlyRootfs")));
	assert_true(json_is_true(json_object_get(host, "Init")));
	assert_true(json_is_false(json_object_get(host, "Privileged")));
	assert_string_equal(json_string_value(json_object_get(body, "User")), "65534:65534");
	assert_string_equal(json_string_value(json_object_get(host, "Runtime")), "crun");

	json_t *security = json_object_get(host, "SecurityOpt");

	assert_string_equal(json_string_value(json_array_get(security, 1)),
			    "seccomp={\"a\":\"b\"}");
	json_decref(body);
}

static void names_are_ours_and_differ(void **state)
{
	char a[BJ_CONTAINER_NAME], b[BJ_CONTAINER_NAME];

	(void)state;
	assert_true(bj_container_name(a) && bj_container_name(b));
	assert_string_not_equal(a, b);
	assert_int_equal(strncmp(a, BJ_CONTAINER_PREFIX, strlen(BJ_CONTAINER_PREFIX)), 0);
}

static void archives_are_whole_blocks(void **state)
{
	AUTO_BUF struct bj_buf tar = { 0 };
	char name[200];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	bj_tar_dir(&tar, "d", 0755);
	bj_tar_file(&tar, "d/f", 0444, "abc", 3);
	bj_tar_file(&tar, name, 0444, "", 0);
	bj_tar_end(&tar);
	assert_false(tar.failed);
	assert_int_equal(tar.size, 512 * (1 + 2 + 3 + 2));
	assert_string_equal(tar.data + 512, "d/f");
	assert_memory_equal(tar.data + 512 + 257, "ustar", 6);
	assert_memory_equal(tar.data + 512 + 124, "00000000003", 11);
	assert_memory_equal(tar.data + 512 + 108, "0000000", 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_agreed_on),
		cmocka_unit_test(hosts_are_read),
		cmocka_unit_test(the_template_holds_every_constraint),
		cmocka_unit_test(names_are_ours_and_differ),
		cmocka_unit_test(archives_are_whole_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
