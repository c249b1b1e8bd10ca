/* SPDX-License-Identifier: Apache-2.0 */
#include "check/py_match.h"
#include "grammar_python.h"

/* What a script does with passwords: compares them with text of its own, writes them to a log,
 * sends them in the clear. */

#define INSIDE_MAX 64 /* nodes of the arguments of a call that are looked at */

static void tell(const struct bj_py_match *p, const char *what, uint32_t node)
{
	bj_danger_special(p->pass, BJ_LANG_PYTHON, what, p->tree->nodes[node].start,
			  p->tree->nodes[node].end);
}

/* The last name of "password", "user.password", "form['password']" and "form.get('password')". */
static uint32_t name_of(const struct bj_py_match *p, uint32_t node)
{
	const uint16_t kind = p->tree->nodes[node].kind;

	if (kind == PY_ATTRIBUTE)
		return bj_node_field(p->tree, node, PYF_ATTRIBUTE);
	if (kind == PY_SUBSCRIPT)
		return bj_node_field(p->tree, node, PYF_SUBSCRIPT);
	if (kind == PY_CALL) {
		const uint32_t function = bj_node_field(p->tree, node, PYF_FUNCTION);
		const uint32_t attribute =
			function ? bj_node_field(p->tree, function, PYF_ATTRIBUTE) : 0;

		return attribute && bj_py_fits_source(p, attribute, "get|get_argument")
			       ? bj_py_argument(p->py, node, 0, NULL)
			       : 0;
	}
	return kind == PY_IDENTIFIER ? node : 0;
}

static bool is_password(const struct bj_py_match *p, uint32_t node)
{
	const uint32_t name = name_of(p, node);

	return name && bj_py_fits_source(p, name,
					 "[Pp]assword|[Pp]asswd|pwd|pass_word|passphrase|"
					 "*_password|*_passwd|*_pwd|passcode|"
					 "'[Pp]assword'|\"[Pp]assword\"|'passwd'|\"passwd\"|"
					 "'pwd'|\"pwd\"");
}

/* Text that may be a password, not an answer or a way to get one. */
static bool is_word(const struct bj_py_match *p, uint32_t node)
{
	const struct bj_node *n = &p->tree->nodes[node];

	return n->kind == PY_STRING && n->end - n->start > 4 &&
	       !bj_node_kind(p->tree, node, PY_INTERPOLATION) &&
	       !bj_py_fits_text(p, node,
				"yes|no|quit|exit|none|None|null|true|false|prompt|ask|stdin|env|"
				"keyring|auto|random|generate|[*][*]*|<*|[$]{*|{{*|* *");
}

static bool is_mac(const struct bj_py_match *p, uint32_t node)
{
	return bj_py_fits_name(p, node, "hmac.new().hexdigest()|hmac.new().digest()|hmac.digest()");
}

/* "assert user.is_admin", outside of tests. */
void bj_py_match_assert(const struct bj_py_match *p, uint32_t node)
{
	static const char globs[] =
		"*is_admin*|*is_authenticated*|*is_authorized*|*has_perm*|*has_role*|*is_staff*|"
		"*is_superuser*|*is_allowed*|*check_password*|*verify_password*|*verify_token*|"
		"*verify_signature*|*.role ==*|*authenticated(*|*authorized(*|*is_owner*";
	const uint32_t around = bj_py_name_around(p->tree, node);

	if (around && !bj_py_fits_source(p, around, "test*|*_test|check_*|assert*") &&
	    bj_py_fits_source(p, node, globs) && !p->py->tests)
		tell(p, "assert-guard", node);
}

/* {"ENGINE": ..., "PASSWORD": ""} of a database. */
void bj_py_match_empty(const struct bj_py_match *p, uint32_t pair)
{
	const struct bj_node *nodes = p->tree->nodes;
	const uint32_t key = bj_node_field(p->tree, pair, PYF_KEY);
	const uint32_t value = bj_node_field(p->tree, pair, PYF_VALUE);
	const uint32_t display = nodes[pair].parent;

	if (key && value && bj_py_fits_text(p, key, "PASSWORD") &&
	    bj_py_fits_source(p, value, "''|\"\"") && bj_py_fits_source(p, display, "*ENGINE*") &&
	    !bj_py_fits_source(p, display, "*sqlite*"))
		tell(p, "password-empty", pair);
}

void bj_py_match_compared(const struct bj_py_match *p, uint32_t node)
{
	const uint32_t left = bj_node_child(p->tree, node);
	const uint32_t op = left ? p->tree->nodes[left].next : 0;
	const uint32_t right = op ? p->tree->nodes[op].next : 0;

	if (right && bj_py_fits_source(p, op, "==|!=") && (is_mac(p, left) || is_mac(p, right)))
		tell(p, "mac-compared", node);
	/* A test knows what it expects. */
	if (!right || !bj_py_fits_source(p, op, "==|!=") ||
	    p->tree->nodes[p->tree->nodes[node].parent].kind == PY_ASSERT_STATEMENT)
		return;
	if ((is_word(p, right) && is_password(p, left)) ||
	    (is_word(p, left) && is_password(p, right)))
		tell(p, "password-compared", node);
}

static bool is_logger(const struct bj_py_match *p, uint32_t function)
{
	const uint32_t object = bj_node_field(p->tree, function, PYF_OBJECT);
	const uint32_t attribute = bj_node_field(p->tree, function, PYF_ATTRIBUTE);

	return object && attribute && !p->tree->nodes[attribute].missing &&
	       strchr("diwecl", p->tree->text[p->tree->nodes[attribute].start]) &&
	       bj_py_fits_source(p, attribute,
				 "debug|info|warning|warn|error|critical|exception|log") &&
	       bj_py_fits_source(p, object,
				 "logging|*logger|*LOGGER|log|LOG|self.log|logging.root|"
				 "*get_logger()|*getLogger(*)");
}

/* A name that is given as it is: not len(password), and no parameter of that name. */
static bool is_given(const struct bj_py_match *p, uint32_t node)
{
	const struct bj_node *nodes = p->tree->nodes;
	const struct bj_node *n = &nodes[node];
	const struct bj_node *up = &nodes[n->parent];

	if (n->kind != PY_IDENTIFIER || n->field == PYF_FUNCTION || n->field == PYF_OBJECT ||
	    (up->kind == PY_KEYWORD_ARGUMENT && n->field == PYF_NAME) ||
	    (up->kind == PY_ATTRIBUTE && up->field == PYF_FUNCTION))
		return false;
	return bj_py_fits_source(p, node,
				 "password|passwd|*_password|*_passwd|secret_key|api_key|apikey|"
				 "access_token|auth_token|private_key|secret|api_secret|"
				 "client_secret|credit_card|credit_card_number|card_number|cvv|ssn|"
				 "social_security_number");
}

static void match_logged(const struct bj_py_match *p, uint32_t call, uint32_t function)
{
	const struct bj_node *nodes = p->tree->nodes;
	const uint32_t args = bj_node_field(p->tree, call, PYF_ARGUMENTS);

	if (!args || !is_logger(p, function))
		return;
	for (uint32_t i = args + 1; i < nodes[args].after && i < args + INSIDE_MAX; i++) {
		const bool masks = nodes[i].kind == PY_CALL && nodes[i].field != PYF_FUNCTION &&
				   !bj_py_fits_source(p, i, "*.format(*|str(*|repr(*");

		if (masks || nodes[i].kind == PY_CONDITIONAL_EXPRESSION ||
		    nodes[i].kind == PY_COMPARISON_OPERATOR) {
			i = nodes[i].after - 1;
			continue;
		}
		if (is_given(p, i)) {
			tell(p, "password-logged", i);
			return;
		}
	}
}

static bool has_bytes(const struct bj_tree *tree, const char *text)
{
	return memmem(tree->text, tree->size, text, strlen(text));
}

/* Whether the script speaks of TLS for mail, or sends to this machine only: looked up once. */
static bool is_covered(const struct bj_py_match *p)
{
	struct bj_py *py = (struct bj_py *)p->py;

	if (!py->mail)
		py->mail = has_bytes(p->tree, "starttls") || has_bytes(p->tree, ".stls") ||
					   has_bytes(p->tree, "localhost")
				   ? BJ_PY_MAIL_COVERED
				   : BJ_PY_MAIL_OPEN;
	return py->mail == BJ_PY_MAIL_COVERED;
}

static void match_login(const struct bj_py_match *p, uint32_t function)
{
	if (bj_py_fits_name(p, function,
			    "smtplib.SMTP().login|imaplib.IMAP4().login|poplib.POP3().pass_") &&
	    !is_covered(p))
		tell(p, "login-clear", function);
}

void bj_py_match_password_call(const struct bj_py_match *p, uint32_t call, uint32_t function)
{
	match_logged(p, call, function);
	match_login(p, function);
}
