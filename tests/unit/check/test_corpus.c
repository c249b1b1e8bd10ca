/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "check/layer.h"

#include <fcntl.h>

/* VALD-04: the labelled corpus. tests/corpus/index.tsv says of every script whether the danger
 * layer must block it, find something in it, or leave it alone under the default policy. */

static void read_file(const char *name, struct bj_buf *buf)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/../corpus/%s", UNIT_DIR, name);

	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(bj_fd_read_all(fd, buf), 0);
}

static const char *judge(const char *name)
{
	AUTO_BUF struct bj_buf text = { .max = 1 << 20 };
	struct bj_findings findings = { 0 };
	struct bj_tree *tree = NULL;
	int worst = -1;

	read_file(name, &text);

	const struct bj_check_request request = {
		.language = strncmp(name, "bash/", 5) == 0 ? BJ_LANG_BASH : BJ_LANG_PYTHON,
		.text = text.data,
		.size = text.size,
	};

	assert_int_equal(bj_tree_new(&request, &tree, NULL), 0);
	assert_int_equal(bj_layer_dangers(&request, tree, NULL, 0, &findings, NULL), 0);
	for (size_t i = 0; i < findings.n; i++)
		if ((int)findings.items[i].rule->severity > worst)
			worst = (int)findings.items[i].rule->severity;
	bj_findings_done(&findings);
	bj_tree_free(tree);
	return worst >= (int)BJ_SEV_HIGH ? "blocked" : worst >= 0 ? "found" : "clean";
}

static void every_label_holds(void **state)
{
	AUTO_BUF struct bj_buf index = { .max = 1 << 20 };
	size_t n = 0, wrong = 0;
	char *next;

	(void)state;
	read_file("index.tsv", &index);
	for (char *line = index.data; line && *line; line = next) {
		char name[128], label[16];

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (line[0] == '#')
			continue;

		const size_t len = strcspn(line, "\t");
		const size_t label_len = strcspn(line + len + 1, "\t");

		snprintf(name, sizeof(name), "%.*s", (int)len, line);
		snprintf(label, sizeof(label), "%.*s", (int)label_len, line + len + 1);
		n++;

		const char *verdict = judge(name);

		if (strcmp(verdict, label) != 0) {
			print_error("%s is %s, not %s\n", name, verdict, label);
			wrong++;
		}
	}
	assert_true(n >= 300);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_label_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
