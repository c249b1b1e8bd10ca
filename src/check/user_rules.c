/* SPDX-License-Identifier: Apache-2.0 */
#include "check/user_rules.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "check/patterns.h"
#include "spec/names.h"

#include <errno.h>
#include <yaml.h>

enum { MAX_RULES = 1000 };

/* One file being read. */
struct reader {
	const char *path;
	yaml_document_t document;
	struct bj_user_rules *rules;
	struct bj_err *err;
};

/* The values of one rule; NULL where the key is missing. */
struct raw_rule {
	const yaml_node_t *node;
	const char *id, *severity, *message, *language, *pattern, *call, *import, *argument;
	const char *positive, *negative;
};

#define KEY(name)                                                                                  \
	{                                                                                          \
#name, offsetof(struct raw_rule, name)                                             \
	}

static const struct {
	const char *name;
	size_t offset;
} KEYS[] = { KEY(id),   KEY(severity), KEY(message),  KEY(language), KEY(pattern),
	     KEY(call), KEY(import),   KEY(argument), KEY(positive), KEY(negative) };

static uint32_t line_of(const yaml_node_t *node)
{
	return (uint32_t)node->start_mark.line + 1;
}

static int bad(const struct reader *r, const yaml_node_t *node, const char *what, const char *name)
{
	return bj_err_set(r->err, BJ_E_INVALID, 0, "%s:%u: %s%s%.60s", r->path, line_of(node), what,
			  name ? ": " : "", name ? name : "");
}

/* A string that lives as long as the rules. */
static const char *keep(struct bj_user_rules *rules, const char *text)
{
	char **strings = reallocarray(rules->strings, rules->n_strings + 1, sizeof(*strings));

	if (!strings)
		return NULL;
	rules->strings = strings;
	strings[rules->n_strings] = strdup(text);
	return strings[rules->n_strings] ? strings[rules->n_strings++] : NULL;
}

static int take_pair(struct reader *r, const yaml_node_pair_t *pair, struct raw_rule *raw)
{
	const yaml_node_t *key = yaml_document_get_node(&r->document, pair->key);
	const yaml_node_t *value = yaml_document_get_node(&r->document, pair->value);

	if (key->type != YAML_SCALAR_NODE || value->type != YAML_SCALAR_NODE)
		return bad(r, value, "a rule holds plain keys and values", NULL);
	for (size_t i = 0; i < BJ_ARRAY_SIZE(KEYS); i++) {
		if (strcmp((const char *)key->data.scalar.value, KEYS[i].name) != 0)
			continue;

		const char *text = keep(r->rules, (const char *)value->data.scalar.value);

		if (!text)
			return bj_err_set(r->err, BJ_E_SYSTEM, ENOMEM, "cannot read %s", r->path);
		memcpy((char *)raw + KEYS[i].offset, &text, sizeof(text));
		return 0;
	}
	return bad(r, key, "unknown key of a rule", (const char *)key->data.scalar.value);
}

static bool has_id(const struct bj_rule *rules, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(rules[i].id, id) == 0)
			return true;
	return false;
}

static bool is_builtin(const char *id)
{
	size_t n, n_dangers, n_imports;
	const struct bj_secret_rule *secrets = bj_rules_secrets(&n);
	const struct bj_rule *dangers = bj_rules_dangers(&n_dangers);
	const struct bj_rule *imports = bj_rules_imports(&n_imports);

	if (has_id(dangers, n_dangers, id) || has_id(imports, n_imports, id))
		return true;
	for (size_t i = 0; i < n; i++)
		if (strcmp(secrets[i].rule.id, id) == 0)
			return true;
	return false;
}

static bool is_taken(const struct bj_user_rules *rules, const char *id)
{
	for (size_t i = 0; i < rules->n_secrets; i++)
		if (strcmp(rules->secrets[i].rule.id, id) == 0)
			return true;
	for (size_t i = 0; i < rules->n_calls; i++)
		if (strcmp(rules->calls[i].rule.id, id) == 0)
			return true;
	return is_builtin(id);
}

/* What rules of both kinds have in common. */
static int fill_rule(const struct reader *r, const struct raw_rule *raw, const char *layer,
		     struct bj_rule *ret)
{
	const int severity = raw->severity ? bj_severity_from_name(raw->severity) : BJ_SEV_HIGH;
	const int language = raw->language ? bj_language_from_name(raw->language) : BJ_RULE_ANY;

	if (!raw->id || !raw->id[0])
		return bad(r, raw->node, "a rule needs an id", NULL);
	if (!raw->message || !raw->message[0])
		return bad(r, raw->node, "a rule needs a message", raw->id);
	if (is_taken(r->rules, raw->id))
		return bad(r, raw->node, "the id is taken", raw->id);
	if (severity < 0)
		return bad(r, raw->node, "severity is info, low, medium, high or critical, not",
			   raw->severity);
	if (raw->language && language < 0)
		return bad(r, raw->node, "language is python or bash, not", raw->language);
	*ret = (struct bj_rule){ .id = raw->id,
				 .layer = layer,
				 .language = (enum bj_rule_language)language,
				 .severity = (enum bj_severity)severity,
				 .message = raw->message,
				 .positive = raw->positive,
				 .negative = raw->negative };
	return 0;
}

static int add_secret(struct reader *r, const struct raw_rule *raw)
{
	struct bj_user_rules *rules = r->rules;
	struct bj_secret_rule *rule = &rules->secrets[rules->n_secrets];

	if (!raw->pattern || raw->call || raw->import || raw->argument)
		return bad(r, raw->node, "a secret rule needs a pattern and no call", raw->id);

	const int status = fill_rule(r, raw, "secrets", &rule->rule);

	if (status < 0)
		return status;
	rule->pattern = raw->pattern;
	rule->kind = BJ_SECRET_PLAIN;
	rules->secret_lines[rules->n_secrets++] = line_of(raw->node);
	return 0;
}

static int add_call(struct reader *r, const struct raw_rule *raw)
{
	struct bj_call_rule *rule = &r->rules->calls[r->rules->n_calls];

	const char *name = raw->call ? raw->call : raw->import;

	if (!name || !name[0] || (raw->call && raw->import))
		return bad(r, raw->node, "a danger rule needs a call or an import", raw->id);
	if (!raw->language)
		return bad(r, raw->node, "a danger rule needs a language", raw->id);
	if (raw->import && (strcmp(raw->language, "python") != 0 || raw->argument || raw->pattern))
		return bad(r, raw->node,
			   "an import is of language python and has no argument or pattern",
			   raw->id);
	if (raw->pattern && !raw->pattern[0])
		return bad(r, raw->node, "the pattern is empty", raw->id);
	if (raw->argument && !raw->argument[0])
		return bad(r, raw->node, "the argument is empty", raw->id);

	const int status = fill_rule(r, raw, "dangers", &rule->rule);

	if (status < 0)
		return status;
	rule->call = name;
	rule->argument = raw->argument;
	rule->pattern = raw->pattern;
	rule->import = raw->import != NULL;
	r->rules->call_lines[r->rules->n_calls++] = line_of(raw->node);
	return 0;
}

static int read_rule(struct reader *r, int index,
		     int (*add)(struct reader *, const struct raw_rule *))
{
	struct raw_rule raw = { .node = yaml_document_get_node(&r->document, index) };

	if (raw.node->type != YAML_MAPPING_NODE)
		return bad(r, raw.node, "a rule is a mapping with id, severity and message", NULL);
	for (const yaml_node_pair_t *p = raw.node->data.mapping.pairs.start;
	     p < raw.node->data.mapping.pairs.top; p++) {
		const int status = take_pair(r, p, &raw);

		if (status < 0)
			return status;
	}
	return add(r, &raw);
}

static int make_room(struct reader *r, size_t n, bool secrets)
{
	struct bj_user_rules *rules = r->rules;

	if (secrets) {
		rules->secrets = calloc(n, sizeof(*rules->secrets));
		rules->secret_lines = calloc(n, sizeof(*rules->secret_lines));
	} else {
		rules->calls = calloc(n, sizeof(*rules->calls));
		rules->call_lines = calloc(n, sizeof(*rules->call_lines));
	}
	if (secrets ? !rules->secrets || !rules->secret_lines : !rules->calls || !rules->call_lines)
		return bj_err_set(r->err, BJ_E_SYSTEM, ENOMEM, "cannot read %s", r->path);
	return 0;
}

static int read_list(struct reader *r, const yaml_node_t *key, const yaml_node_t *list)
{
	const char *name = (const char *)key->data.scalar.value;
	const bool secrets = strcmp(name, "secrets") == 0;

	if (!secrets && strcmp(name, "dangers") != 0)
		return bad(r, key, "unknown key; allowed are secrets and dangers", name);
	if (list->type != YAML_SEQUENCE_NODE)
		return bad(r, list, "this is a list of rules", name);
	if (secrets ? r->rules->secrets != NULL : r->rules->calls != NULL)
		return bad(r, key, "this key is there twice", name);

	const size_t n = (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);

	if (n > MAX_RULES)
		return bad(r, list, "there are more than 1000 rules", name);

	int status = n ? make_room(r, n, secrets) : 0;

	for (size_t i = 0; i < n && status == 0; i++)
		status = read_rule(r, list->data.sequence.items.start[i],
				   secrets ? add_secret : add_call);
	return status;
}

static int read_document(struct reader *r)
{
	const yaml_node_t *root = yaml_document_get_root_node(&r->document);

	if (!root)
		return 0;
	if (root->type != YAML_MAPPING_NODE)
		return bad(r, root, "the file is a mapping with secrets and dangers", NULL);
	for (const yaml_node_pair_t *p = root->data.mapping.pairs.start;
	     p < root->data.mapping.pairs.top; p++) {
		const yaml_node_t *key = yaml_document_get_node(&r->document, p->key);
		const yaml_node_t *value = yaml_document_get_node(&r->document, p->value);

		if (key->type != YAML_SCALAR_NODE)
			return bad(r, key, "keys are secrets and dangers", NULL);

		const int status = read_list(r, key, value);

		if (status < 0)
			return status;
	}
	return 0;
}

static int parse(struct reader *r, FILE *file)
{
	yaml_parser_t parser;

	if (!yaml_parser_initialize(&parser))
		return bj_err_set(r->err, BJ_E_SYSTEM, ENOMEM, "cannot read %s", r->path);
	yaml_parser_set_input_file(&parser, file);
	if (!yaml_parser_load(&parser, &r->document)) {
		bj_err_set(r->err, BJ_E_INVALID, 0, "%s:%zu: %s", r->path,
			   parser.problem_mark.line + 1,
			   parser.problem ? parser.problem : "not YAML");
		yaml_parser_delete(&parser);
		return -BJ_E_INVALID;
	}

	const int status = read_document(r);

	yaml_document_delete(&r->document);
	yaml_parser_delete(&parser);
	return status;
}

/* All patterns of the danger rules as one. */
static int compile_patterns(struct reader *r)
{
	struct bj_user_rules *rules = r->rules;
	AUTO_FREE const char **patterns = calloc(rules->n_calls + 1, sizeof(*patterns));
	AUTO_FREE size_t *owners = calloc(rules->n_calls + 1, sizeof(*owners));
	size_t n = 0, wrong;

	if (!patterns || !owners)
		return bj_err_set(r->err, BJ_E_SYSTEM, ENOMEM, "cannot read %s", r->path);
	for (size_t i = 0; i < rules->n_calls; i++)
		if (rules->calls[i].pattern) {
			owners[n] = i;
			patterns[n++] = rules->calls[i].pattern;
		}
	if (!n)
		return 0;

	const int status = bj_patterns_new(patterns, n, &rules->patterns, &wrong, r->err);

	if (status < 0 && wrong < n)
		return bj_err_wrap(r->err, "%s:%u: rule %s", r->path,
				   rules->call_lines[owners[wrong]],
				   rules->calls[owners[wrong]].rule.id);
	if (status < 0)
		return bj_err_wrap(r->err, "%s", r->path);
	for (size_t i = 0; i < n; i++) {
		rules->calls[owners[i]].patterns = rules->patterns;
		rules->calls[owners[i]].pattern_id = (uint32_t)i;
	}
	return 0;
}

int bj_user_rules_load(const char *path, struct bj_user_rules **ret, struct bj_err *err)
{
	AUTO_FILE FILE *file = fopen(path, "re");

	if (!file)
		return bj_err_set(err, BJ_E_NOT_FOUND, errno, "cannot open the rules file %s",
				  path);

	struct bj_user_rules *rules = calloc(1, sizeof(*rules));
	struct reader reader = { .path = path, .rules = rules, .err = err };

	if (!rules)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read %s", path);

	int status = parse(&reader, file);

	if (status == 0)
		status = compile_patterns(&reader);
	if (status < 0) {
		bj_user_rules_free(rules);
		return status;
	}
	*ret = rules;
	return 0;
}

void bj_user_rules_free(struct bj_user_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->n_strings; i++)
		free(rules->strings[i]);
	free(rules->strings);
	free(rules->secrets);
	free(rules->secret_lines);
	free(rules->calls);
	free(rules->call_lines);
	bj_patterns_free(rules->patterns);
	free(rules);
}
