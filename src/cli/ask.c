/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/visible.h"
#include "cli/records.h"
#include "spec/names.h"

#include <fcntl.h>
#include <string.h>

static void add_findings(struct bj_buf *to, const struct bj_result *found)
{
	for (size_t i = 0; i < found->n_findings; i++) {
		const struct bj_finding *f = &found->findings[i];

		bj_buf_puts(to, "  ");
		if (f->line)
			bj_buf_printf(to, "line %u: ", f->line);
		bj_buf_printf(to, "%s [%s, %s]\n", f->message, f->rule,
			      bj_severity_name(f->severity));
	}
	for (size_t i = 0; i < found->n_risk_reasons; i++)
		bj_buf_printf(to, "  risk: %s\n", found->risk_reasons[i]);
}

static void add_script(struct bj_buf *to, const struct bj_question *q)
{
	const char *script = q->spec->script;
	const size_t size = q->spec->script_size;
	/* Lines are compared as texts, which end at a NUL. */
	AUTO_FREE char *text =
		q->last_approved && !memchr(script, 0, size) ? strndup(script, size) : NULL;

	bj_buf_puts(to, "\n");
	if (!text) {
		bj_buf_add(to, script, size);
		bj_buf_puts(to, "\n");
		return;
	}
	if (!bj_diff("approved last", q->last_approved, "now", text, to))
		bj_buf_puts(to, "The script is the one that was approved last; something else of "
				"the run changed.\n");
}

static void show(int tty, const struct bj_question *q)
{
	AUTO_BUF struct bj_buf text = { 0 };
	AUTO_BUF struct bj_buf shown = { 0 };
	struct bj_visible visible = { .judged = true };

	bj_buf_printf(&text, "This run needs approval (rule: %s), effective risk %s.\n", q->rule,
		      bj_risk_name(q->found->effective_risk));
	add_findings(&text, q->found);
	add_script(&text, q);
	bj_buf_puts(&text, "\nRun it? Say y, or why not: ");
	bj_visible_add(&visible, &shown, text.data, text.size);
	bj_visible_end(&visible, &shown);
	bj_fd_write_all(tty, shown.data, shown.size);
}

int bj_ask(void *ctx, const struct bj_question *question, bool *ret_approved, char **ret_by,
	   char **ret_reason)
{
	char answer[400] = "";

	(void)ctx;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return 0;

	AUTO_FD int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	if (tty < 0)
		return 0;
	show(tty, question);

	const ssize_t n = read(tty, answer, sizeof(answer) - 1);

	if (n <= 0)
		return 0;
	answer[strcspn(answer, "\r\n")] = '\0';
	*ret_approved = strcmp(answer, "y") == 0 || strcmp(answer, "yes") == 0;
	*ret_by = strdup(bj_records_user());
	if (!*ret_approved && answer[0] && strcmp(answer, "n") != 0 && strcmp(answer, "no") != 0)
		*ret_reason = strdup(answer);
	return 1;
}
