/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "check/secrets.h"

/* VALD-03: secrets are found, by the rule that knows them best, and ordinary code is clean. */

static struct bj_secrets *secrets;

static int setup(void **state)
{
	size_t bad;

	(void)state;
	return bj_secrets_new(NULL, 0, &secrets, &bad, NULL);
}

static int teardown(void **state)
{
	(void)state;
	bj_secrets_free(secrets);
	return 0;
}

static bool finds(enum bj_rule_language language, const char *text, const char *id)
{
	struct bj_spans spans = { 0 };
	bool found = false;

	if (language == BJ_RULE_ANY)
		language = BJ_RULE_PYTHON;
	assert_int_equal(bj_secrets_find(secrets, language, text, strlen(text), &spans, NULL), 0);
	for (size_t i = 0; i < spans.n; i++)
		found |= !id || strcmp(spans.items[i].rule->id, id) == 0;
	bj_spans_done(&spans);
	return found;
}

/* Take a rule away and its example is found by no rule of that name. */
static void examples_of_every_rule(void **state)
{
	size_t n, wrong = 0;
	const struct bj_secret_rule *rules = bj_rules_secrets(&n);

	(void)state;
	assert_true(n >= 80);
	for (size_t i = 0; i < n; i++) {
		const struct bj_rule *rule = &rules[i].rule;

		if (!finds(rule->language, rule->positive, rule->id)) {
			print_error("%s misses %s\n", rule->id, rule->positive);
			wrong++;
		}
		if (finds(rule->language, rule->negative, NULL)) {
			print_error("%s: found in %s\n", rule->id, rule->negative);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

static const char *const CLEAN_PYTHON[] = {
	"password = input()",
	"token = os.environ[\"TOKEN\"]",
	"api_key=None",
	"password = \"<your password>\"",
	"password = getpass.getpass(\"Password: \")",
	"password = \"\"",
	"password = \"********\"",
	"password = 'password'",
	"api_key = 'YOUR_API_KEY'",
	"api_key = os.getenv('API_KEY', '')",
	"api_key = config['api_key1']",
	"def login(user: str, password: str = None): pass",
	"print('password: ', password1, 'x')",
	"headers = {'Authorization': f'Bearer {token1}'}",
	"parser.add_argument('--password', help='the password for user1')",
	"if token == 'lambda2x': pass",
	"secret_name = 'projects/1/secrets/db'",
	"token_type = 'bearer2000x'",
	"tokens = [\"a1b2c3d4e5\"]",
	"password = f\"{user}123\"",
	"url = 'https://user:password@example.com/'",
	"url = 'http://localhost:8080/@user'",
	"assert passwd != 'x'",
	"password_field = 'password1'",
	"sha = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'",
	"uuid = '123e4567-e89b-12d3-a456-426614174000'",
	"creds = ('user', 'password')",
	"user, password = 'user', 'password'",
	"x, token = split('a1b2c3d4e5', 'f6a7b8c9d0')",
	"passwords = ['aB3dEf9hK1']",
	"PASSWORDS = {'min_length': 12, 'field': 'password'}",
	"@dataclass\nclass A:\n    password: str\n    token: Float64\n",
	"t = '''\npassword: {password1}\ntoken: <token1>\nTOKEN=\n'''",
	"f(\n    token=token_v2_10,\n    api_key=key2of3)",
	"ap.add_argument('--token', default=os.environ.get('TOKEN1'))",
	"u = 'https://x.test/?token=h480djs93hd8&page=2'",
};

static const char *const DIRTY_PYTHON[] = {
	"user, password = \"bob\", \"S3cr3tPw99\"",
	"api_key = 'secret123'",
	"API_KEY=\"abc123def456\"",
	"password: str = \"hunter2\"",
	"password: Optional[str] = 'hunter22'",
	"db = connect(host='db', password='hunter2')",
	"config = {\"password\": \"hunter2\"}",
	"text = '{\"password\": \"hunter2\"}'",
	"text = \"{\\\"password\\\": \\\"hunter2\\\"}\"",
	"os.environ[\"API_KEY\"] = \"abc123def456\"",
	"if password == 'hunter2': pass",
	"password = b'hunter2'",
	"password = ('hunter2')",
	"password = '''hunter2'''",
	"PASSWORD = 'swordfish'",
	"SECRET_KEY = 'supersecretkey'",
	"self.access_token = 'a8f5f167f44f4964e6c998dee827110c'",
	"url = 'redis://:hunter22@cache:6379/0'",
	"# password = 'hunter2'",
	"creds = ('admin', 'P@ssw0rd!23')",
	"PASSWORDS = {'alice': 'Wint3r2024!', 'bob': 'Summ3r2024!'}",
	"t = '''\ndb:\n  user: app\n  password: k3Yb0ardC4t9\n'''",
	"t = '''\nAPI_KEY=a8f5f167f44f4964e6c998dee827110c\n'''",
	"u = 'https://x.test/?q=1&api_key=a8f5f167f44f4964e6c998dee827110c'",
	"cmd = ['curl', '-H', 'X-Api-Key: a8f5f167f44f4964e6c998dee827110c']",
};

static const char *const CLEAN_BASH[] = {
	"PASSWORD=$1",
	"PASSWORD=\"$(cat /run/secrets/db1)\"",
	"PASSWORD=${PASSWORD:-}",
	"read -rsp \"Password: \" PASSWORD",
	"TOKEN=`cat token1`",
	"curl -H \"Authorization: Bearer $TOKEN1\" https://example.com",
	"mysql -u root -p \"$DB1\"",
	"export API_KEY",
	"docker run --env-file prod1.env image",
	"PWD=/home/user1",
	"docker build --secret id=token1,src=file1 .",
	"smbclient //h/s -U \"$USER%$PASS\"",
	"mongo -u admin -p --port 27017",
	"az login --service-principal -u \"$ID\" -p \"$SECRET\"",
	"oc login --token=\"$(cat token1)\"",
	"7z a -pdf x.7z",
	"sqlplus /nolog @setup2024.sql",
	"htpasswd -c .htpasswd bob",
	"rabbitmqctl add_user bob \"$PW1\"",
	"keytool -list -storepass changeit",
	"git clone --depth 1 --branch v1.2.3 https://x.test/y.git",
	"mysql -e \"CREATE USER app IDENTIFIED BY '${PW1}'\"",
	"aws dynamodb scan --starting-token \"$NEXT1\"",
	"cat > x.yml <<E\npassword: ${DB1}\ntoken: <your token1>\nE\n",
};

static const char *const DIRTY_BASH[] = {
	"PASSWORD=hunter2",
	"export API_KEY='abc123def456'",
	"DB_PASS=\"hunter2\" ./run",
	"curl -H \"Authorization: Bearer a8f5f167f44f4964e6c998dee827110c\" https://example.com",
	"PGPASSWORD=s3cr3tpw psql -h db",
	"curl https://admin:hunter2@example.com/",
	"cat > x.yml <<E\nuser: app\npassword: S3cr3tPw99\nE\n",
};

/* A rule with several patterns goes by each of them. */
static void every_pattern_of_a_rule_counts(void **state)
{
	static const struct {
		const char *head, *rule;
		enum bj_rule_language language;
	} heads[] = {
		{ "x = C(\"AC5936271849162735593627184916273a\", \"", "secret-key-pair",
		  BJ_RULE_PYTHON },
		{ "as_ = \"1/5936271849162735:", "secret-asana", BJ_RULE_PYTHON },
		{ "as_ = \"2/5936271849162735/6182739451627384:", "secret-asana", BJ_RULE_PYTHON },
		{ "adafruit = \"", "secret-vendor-value", BJ_RULE_PYTHON },
		{ "zendesk = \"", "secret-vendor-value", BJ_RULE_PYTHON },
		{ "az login -u a -p ", "secret-login-option", BJ_RULE_BASH },
		{ "mongosh -u a -p ", "secret-login-option", BJ_RULE_BASH },
		{ "evil-winrm -i h -u a -p ", "secret-login-option", BJ_RULE_BASH },
		{ "7z x -p", "secret-login-option", BJ_RULE_BASH },
		{ "rar a -hp", "secret-login-option", BJ_RULE_BASH },
		{ "sqlcmd -S h -U sa -P ", "secret-login-option", BJ_RULE_BASH },
		{ "ldapsearch -x -w ", "secret-login-option", BJ_RULE_BASH },
		{ "snmpwalk -v3 -u a -A ", "secret-login-option", BJ_RULE_BASH },
		{ "xfreerdp /u:a /p:", "secret-login-option", BJ_RULE_BASH },
		{ "gh secret set X --body ", "secret-login-option", BJ_RULE_BASH },
		{ "security add-generic-password -a a -w ", "secret-login-option", BJ_RULE_BASH },
		{ "keytool -list -storepass ", "secret-login-option", BJ_RULE_BASH },
		{ "redis-cli --pass ", "secret-login-option", BJ_RULE_BASH },
		{ "winexe -U u%", "secret-login-word", BJ_RULE_BASH },
		{ "sqlplus scott/", "secret-login-word", BJ_RULE_BASH },
		{ "lftp -u bob,", "secret-login-word", BJ_RULE_BASH },
		{ "htpasswd -b -c .htpasswd bob ", "secret-login-word", BJ_RULE_BASH },
		{ "mysqladmin -u root password ", "secret-login-word", BJ_RULE_BASH },
		{ "wpa_passphrase home ", "secret-login-word", BJ_RULE_BASH },
		{ "nmcli dev wifi connect home password ", "secret-login-word", BJ_RULE_BASH },
		{ "rabbitmqctl add_user bob ", "secret-login-word", BJ_RULE_BASH },
		{ "mc alias set m https://h KEY ", "secret-login-word", BJ_RULE_BASH },
		{ "net use z: share ", "secret-login-word", BJ_RULE_BASH },
		{ "grafana-cli admin reset-admin-password ", "secret-login-word", BJ_RULE_BASH },
		{ "quote PASS ", "secret-login-word", BJ_RULE_BASH },
		{ "vault operator unseal ", "secret-login-word", BJ_RULE_BASH },
		{ "curl -H 'Authorization: SSWS ", "secret-authorization-header", BJ_RULE_BASH },
		{ "npm config set //r/:_authToken ", "secret-login-word", BJ_RULE_BASH },
		{ "ngrok config add-authtoken ", "secret-login-word", BJ_RULE_BASH },
		{ "sonar-scanner -Dsonar.login=", "secret-login-word", BJ_RULE_BASH },
		{ "curl -u bob:", "secret-curl-user", BJ_RULE_BASH },
		{ "curl -subob:", "secret-curl-user", BJ_RULE_BASH },
		{ "curl --proxy-user bob:", "secret-curl-user", BJ_RULE_BASH },
		{ "http -a bob:", "secret-curl-user", BJ_RULE_BASH },
		{ "etcdctl get x --user root:", "secret-curl-user", BJ_RULE_BASH },
		{ "mysql -e \"CREATE USER x IDENTIFIED BY '", "secret-sql-password", BJ_RULE_BASH },
		{ "psql -c \"ALTER USER x WITH PASSWORD '", "secret-sql-password", BJ_RULE_BASH },
		{ "mysql -e \"SET PASSWORD FOR x = PASSWORD('", "secret-sql-password",
		  BJ_RULE_BASH },
		{ "setattr(c, 'api_key', '", "secret-handed", BJ_RULE_PYTHON },
		{ "p.add_argument('--token', default='", "secret-handed", BJ_RULE_PYTHON },
		{ "x = os.environ.get('API_KEY') or '", "secret-handed", BJ_RULE_PYTHON },
		{ "z.setpassword(b'", "secret-password-call", BJ_RULE_PYTHON },
		{ "FTP('h', 'u', '", "secret-password-call", BJ_RULE_PYTHON },
		{ "ClientSecretCredential(t, 'c', '", "secret-password-call", BJ_RULE_PYTHON },
	};
	char text[128];

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(heads); i++) {
		snprintf(text, sizeof(text), "%s%s%s\"\n", heads[i].head, "8b4f2a379c98d5e1",
			 "6d0c7ab3518bf042");
		if (!finds(heads[i].language, text, heads[i].rule))
			fail_msg("%s misses %s", heads[i].rule, text);
	}
}

static void check_list(enum bj_rule_language language, const char *const *texts, size_t n,
		       bool dirty)
{
	size_t wrong = 0;

	for (size_t i = 0; i < n; i++)
		if (finds(language, texts[i], NULL) != dirty) {
			print_error("%s: %s\n", dirty ? "missed" : "false alarm", texts[i]);
			wrong++;
		}
	assert_int_equal(wrong, 0);
}

static void ordinary_code_is_clean(void **state)
{
	(void)state;
	check_list(BJ_RULE_PYTHON, CLEAN_PYTHON, BJ_ARRAY_SIZE(CLEAN_PYTHON), false);
	check_list(BJ_RULE_BASH, CLEAN_BASH, BJ_ARRAY_SIZE(CLEAN_BASH), false);
}

static void assignments_are_found(void **state)
{
	(void)state;
	check_list(BJ_RULE_PYTHON, DIRTY_PYTHON, BJ_ARRAY_SIZE(DIRTY_PYTHON), true);
	check_list(BJ_RULE_BASH, DIRTY_BASH, BJ_ARRAY_SIZE(DIRTY_BASH), true);
}

static void masks_the_secret_and_nothing_else(void **state)
{
	char text[] = "x = 1; password = 'hunter2'; y = 2\n";
	struct bj_spans spans = { 0 };

	(void)state;
	assert_int_equal(bj_secrets_find(secrets, BJ_RULE_PYTHON, text, strlen(text), &spans, NULL),
			 0);
	bj_secrets_mask(text, strlen(text), &spans);
	bj_spans_done(&spans);
	assert_string_equal(text, "x = 1; password = '*******'; y = 2\n");
}

/* VALD-03: a token of a thousand letters is masked to its end, in quotes, bare and after a flag. */
static void long_values_are_masked_to_their_end(void **state)
{
	static const char *const rows[][2] = {
		{ "secret_token = \"", "\"; y = 2\n" },
		{ "export API_TOKEN=", "; y=2\n" },
		{ "curl -u admin:", " https://x.test\n" },
	};

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(rows); i++) {
		static const char letters[] = "aB3xK9zQ4mW7pL2vR8tY5uN1cD6fG0hJ";
		char text[4096];
		struct bj_spans spans = { 0 };
		size_t n = strlen(rows[i][0]);

		memcpy(text, rows[i][0], n);
		for (size_t k = 0; k < 1500; k++)
			text[n++] = letters[(k * 7 + k / 32) % 32];
		memcpy(text + n, rows[i][1], strlen(rows[i][1]) + 1);
		assert_int_equal(
			bj_secrets_find(secrets, BJ_RULE_BASH, text, strlen(text), &spans, NULL),
			0);
		assert_true(spans.n > 0);
		bj_secrets_mask(text, strlen(text), &spans);
		bj_spans_done(&spans);
		for (size_t k = strlen(rows[i][0]); k < n; k++)
			if (text[k] != '*')
				fail_msg("row %zu: %s", i, text + k);
		assert_string_equal(text + n, rows[i][1]);
	}
}

/* A value longer than anybody looks is cut somewhere: not within a character, in no place. */
static void what_was_text_stays_text(void **state)
{
	enum { LEAD = 16, LONG = 20000 };

	(void)state;
	for (size_t lead = 6; lead < LEAD; lead++) {
		char text[LONG + 64] = "password = 'aB3xK9zQ4mW7pL2v";
		struct bj_spans spans = { 0 };

		size_t n = 12 + lead;

		for (; n < LONG; n += 3)
			memcpy(text + n, "\xe2\x82\xac", 3);
		memcpy(text + n, "'\n", 3);
		assert_true(bj_utf8_valid(text, strlen(text)));
		assert_int_equal(
			bj_secrets_find(secrets, BJ_RULE_PYTHON, text, strlen(text), &spans, NULL),
			0);
		assert_true(spans.n > 0);
		bj_secrets_mask(text, strlen(text), &spans);
		bj_spans_done(&spans);
		assert_true(bj_utf8_valid(text, strlen(text)));
		assert_null(strstr(text, "aB3xK9"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_of_every_rule),
		cmocka_unit_test(every_pattern_of_a_rule_counts),
		cmocka_unit_test(ordinary_code_is_clean),
		cmocka_unit_test(assignments_are_found),
		cmocka_unit_test(masks_the_secret_and_nothing_else),
		cmocka_unit_test(what_was_text_stays_text),
		cmocka_unit_test(long_values_are_masked_to_their_end),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
