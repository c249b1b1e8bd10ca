/* SPDX-License-Identifier: Apache-2.0 */
#include "config/table.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/size.h"
#include "config/rule.h"

#include <inttypes.h>
#include <string.h>

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)
#define TIB (GIB * 1024)

#define YEAR_MS UINT64_C(31536000000)

/* systemd keeps 61184-65519 and 524288-1879048191 for itself, subordinate ids are handed out from
 * 100000 on, and ids past 2^31 break programs that read them as signed. 1900000000 lies in the
 * gap that nobody hands out. */
#define UID_MIN   65536
#define UID_MAX   2147483647
#define UID_BASE  "1900000000"
#define UID_COUNT "1048576"

#define AT(field) .offset = offsetof(struct bj_settings, field)

#define WARM_PRELOAD                                                                               \
	"json,re,math,random,datetime,collections,itertools,functools,os,pathlib,typing,"          \
	"dataclasses,csv,io,string,time,textwrap,statistics,decimal,traceback"

static const char *const BACKENDS[] = { "native", "docker", "direct", NULL };
static const char *const POLICIES[] = { "default", "strict", "off", NULL };
static const char *const IMPORTS[] = { "auto", "block", "warn", "off", NULL };
static const char *const REQUIRES[] = { "full", "basic", NULL };
static const char *const PROCS[] = { "pid", "compat", "none", NULL };
static const char *const STORES[] = { "never", "on_error", "always", NULL };
static const char *const AUDIT_SYNCS[] = { "group", "always", "never", NULL };
static const char *const SCOPES[] = { "tool", "tenant", "all", NULL };
static const char *const DOCKER_PROFILES[] = { "belljar", "docker", NULL };
static const char *const FALLBACKS[] = { "native", "direct", NULL };
static const char *const LEVELS[] = { "error", "warn", "info", "debug", NULL };

/* Keys of one section stand together: the docs and `config --explain` print them in this order. */
const struct bj_setting bj_table[] = {
	{ "backend", BJ_T_CHOICE, AT(backend), .choices = BACKENDS, .value = "native",
	  .env = "SANDBOX_TYPE",
	  .help = "Where scripts run. native (also written local) is the kernel's own jar, docker "
		  "the Engine API, direct no isolation at all." },
	{ "fallback", BJ_T_MODULES, .optional = true, AT(fallback), .choices = FALLBACKS,
	  .value = "",
	  .help = "Backends to try, in this order, when the chosen one is not there. Each use is "
		  "warned about and recorded. Empty: none." },
	{ "fallback_to_direct", BJ_T_BOOL, AT(fallback_to_direct), .value = "false",
	  .help = "Put direct at the end of that list. It also needs allow_unsafe." },
	{ "profile", BJ_T_NAME, AT(profile), .value = "default",
	  .help = "The named set of limits to start from. Limits that are set by themselves win "
		  "over it." },
	{ "seccomp", BJ_T_FILE, .optional = true, AT(seccomp), .value = "",
	  .help = "A seccomp profile in Docker's JSON format, on top of the floor that cannot be "
		  "removed. Empty: the built-in profile." },
	{ "image", BJ_T_NAME, .optional = true, AT(image), .value = "",
	  .help = "An imported image whose interpreters are used. Empty or host: those of this "
		  "machine." },
	{ "state_dir", BJ_T_FILE, .optional = true, AT(state_dir), .value = "",
	  .help = "Where records are kept. Empty: chosen by who runs belljar." },
	{ "store_code", BJ_T_CHOICE, AT(store_code), .choices = STORES, .value = "on_error",
	  .env = "SANDBOX_STORE_CODE",
	  .help = "When the text of a script is kept with its result. never keeps only its hash." },
	{ "tenant", BJ_T_NAME, .optional = true, AT(tenant), .value = "",
	  .help = "The tenant that runs without an API key count for. Empty: none, and no quota." },
	{ "allow_unsafe", BJ_T_BOOL, AT(allow_unsafe), .value = "false",
	  .help = "Let the backend direct run, which seals nothing off." },
	{ "log_level", BJ_T_WORD, AT(log_level), .choices = LEVELS, .value = "warn",
	  .help = "How much belljar says on standard error." },

	{ "limits.memory", BJ_T_SIZE, AT(limits.memory), 16 * MIB, TIB, .value = "512MiB",
	  .env = "DOCKER_MEMORY_LIMIT",
	  .help = "Memory of a run. Files in /tmp and the working directory count, swap is off." },
	{ "limits.cpus", BJ_T_CPUS, AT(limits.cpu_milli), 10, 1024000, .value = "1",
	  .env = "DOCKER_CPU_LIMIT",
	  .help = "CPUs a run may use, for all its processes together." },
	{ "limits.pids", BJ_T_COUNT, AT(limits.pids), 4, 1000000, .value = "100",
	  .help = "Processes and threads of a run, together." },
	{ "limits.timeout", BJ_T_DURATION, AT(limits.timeout_ms), 1, YEAR_MS, .value = "60s",
	  .env = "SANDBOX_TIMEOUT_SEC",
	  .help = "How long a run may take, by the clock on the wall." },
	{ "limits.max_timeout", BJ_T_DURATION, AT(max_timeout_ms), 1, YEAR_MS, .value = "300s",
	  .help = "The longest timeout there is. Longer ones are cut to it, and the result says "
		  "so." },
	{ "limits.tmp_size", BJ_T_SIZE, AT(limits.tmp_size), 64 * KIB, TIB, .value = "64MiB",
	  .help = "Size of /tmp and of the working directory, each." },
	{ "limits.max_output", BJ_T_SIZE, AT(limits.max_output), 256, GIB, .value = "20KiB",
	  .env = "SANDBOX_MAX_OUTPUT_KB", .env_form = BJ_ENV_KIB,
	  .help = "Bytes of each output stream in the result. More is cut in the middle and the "
		  "run goes on." },
	{ "limits.output_cap", BJ_T_SIZE, AT(limits.output_cap), 4 * KIB, 16 * GIB,
	  .value = "64MiB", .help = "Bytes of one output stream after which the run is killed." },
	{ "limits.out_files", BJ_T_COUNT, AT(limits.out_files), 0, 100000, .value = "100",
	  .help = "Files collected from out/." },
	{ "limits.out_bytes", BJ_T_SIZE, AT(limits.out_bytes), 0, 64 * GIB, .value = "64MiB",
	  .help = "Bytes collected from out/, all files together." },

	{ "check.policy", BJ_T_CHOICE, AT(policy), .choices = POLICIES, .value = "default",
	  .help = "What blocks a script before it runs. strict also refuses files, network and "
		  "processes; off only records." },
	{ "check.imports", BJ_T_CHOICE, AT(imports), .choices = IMPORTS, .value = "auto",
	  .env = "SANDBOX_BLOCK_DANGEROUS_IMPORTS", .env_form = BJ_ENV_BLOCK,
	  .help = "What happens to imports of the list below. auto is warn, and block under the "
		  "backend direct." },
	{ "check.blocked_imports", BJ_T_MODULES, .optional = true, AT(blocked_imports), .value = "",
	  .help = "Python modules the import policy looks for. Empty: the built-in list." },
	{ "check.rules_file", BJ_T_FILE, .optional = true, AT(user_rules), .value = "",
	  .help = "A YAML file with rules of your own. Empty: only the built-in rules." },
	{ "check.max_script_chars", BJ_T_COUNT, AT(max_script_chars), 1, 10000000, .value = "10000",
	  .help = "Characters of a script; longer ones are refused." },
	{ "check.max_script_bytes", BJ_T_COUNT, AT(max_script_bytes), 0, 40000000, .value = "0",
	  .help = "Bytes of a script. 0: four for every character allowed." },

	{ "native.require", BJ_T_CHOICE, AT(require), .choices = REQUIRES, .value = "full",
	  .help = "full refuses to run when a layer is missing, such as cgroups; basic runs with "
		  "what the machine has and the result says what was missing." },
	{ "native.python", BJ_T_PATH, AT(python), .value = "/usr/bin/python3",
	  .help = "The Python that runs Python scripts." },
	{ "native.bash", BJ_T_PATH, AT(bash), .value = "/usr/bin/bash",
	  .help = "The Bash that runs Bash scripts." },
	{ "native.cgroup", BJ_T_PATH, .optional = true, AT(cgroup), .value = "",
	  .help = "The cgroup below which runs get their own. Empty: belljar finds one." },
	{ "native.uid_base", BJ_T_COUNT, AT(uid_base), UID_MIN, UID_MAX, .value = UID_BASE,
	  .help = "First kernel user id that runs may have when belljar runs as root. The default "
		  "lies outside what systemd and /etc/subuid hand out." },
	{ "native.uid_count", BJ_T_COUNT, AT(uid_count), 3, 1048576, .value = UID_COUNT,
	  .help = "How many user ids from uid_base on belong to belljar: one for itself, and two "
		  "for each run under way." },
	{ "native.all_memory", BJ_T_SIZE, AT(all_memory), 0, 64 * TIB, .value = "0",
	  .help = "Memory of all runs of one belljar together. 0: nine tenths of the machine's." },
	{ "native.all_cpus", BJ_T_CPUS, AT(all_cpu_milli), 10, 1024000, .value = "1024",
	  .help = "CPUs of all runs of one belljar together. 1024: all there are." },
	{ "native.all_pids", BJ_T_COUNT, AT(all_pids), 0, 4194304, .value = "0",
	  .help = "Processes and threads of all runs of one belljar together. 0: half of what the "
		  "machine allows." },
	{ "native.proc", BJ_T_CHOICE, AT(proc), .choices = PROCS, .value = "pid",
	  .help = "What /proc shows inside. pid shows only the processes of the run, compat the "
		  "usual files too, none leaves it out." },

	{ "images.dir", BJ_T_FILE, .optional = true, AT(images_dir), .value = "",
	  .help = "Where images for the native jar are kept. Empty: images in the state directory, "
		  "else /var/lib/belljar/images for root and the user's own data directory." },
	{ "images.allow", BJ_T_NAMES, .optional = true, AT(images_allow), .max = BJ_IMAGES_ALLOWED,
	  .value = "",
	  .help = "Images that a request to a service may name beside the setting image. Their "
		  "interpreters are trusted as those of that one are." },
	{ "images.max_size", BJ_T_SIZE, AT(images_max_size), MIB, 64 * TIB, .value = "8GiB",
	  .help = "The largest image that is imported, unpacked." },
	{ "images.max_files", BJ_T_COUNT, AT(images_max_files), 16, 100000000, .value = "500000",
	  .help = "The most files that an image may have." },

	{ "warm.slots", BJ_T_COUNT, AT(warm_slots), 0, 1000, .value = "8",
	  .help = "How many Python interpreters a service keeps waiting, sealed, each for one "
		  "script. 0: none." },
	{ "warm.heavy_slots", BJ_T_COUNT, AT(warm_heavy_slots), 0, 1000, .value = "4",
	  .help = "How many of them have warm.heavy imported as well, for scripts that name one of "
		  "these modules. None where the machine has none of the modules." },
	{ "warm.bash_slots", BJ_T_COUNT, AT(warm_bash_slots), 0, 1000, .value = "4",
	  .help = "How many Bashes a service keeps waiting, for scripts without arguments and "
		  "variables. 0: none." },
	{ "warm.jars", BJ_T_COUNT, AT(warm_jars), 0, 1000, .value = "4",
	  .help = "How many empty jars a service keeps, for runs that find nobody waiting." },
	{ "warm.max", BJ_T_COUNT, AT(warm_max), 1, 1000, .value = "64",
	  .help = "How far each of these numbers grows while there is demand. They shrink again "
		  "when there is none, and when memory is short." },
	{ "warm.images", BJ_T_COUNT, AT(warm_images), 0, BJ_IMAGES_ALLOWED, .value = "4",
	  .help = "How many images of images.allow have interpreters waiting at once, from the "
		  "first run in them on, as many as there is demand for. The one that was asked "
		  "for longest ago makes room. 0: none." },
	{ "warm.preload", BJ_T_MODULES, AT(warm_preload), .value = WARM_PRELOAD,
	  .help = "Modules that the waiting interpreters have imported already, separated by "
		  "commas. What the machine does not have is left out." },
	{ "warm.heavy", BJ_T_MODULES, .optional = true, AT(warm_heavy),
	  .value = "numpy,pandas,matplotlib",
	  .help = "Modules that take long to import, for the interpreters of warm.heavy_slots." },
	{ "docker.host", BJ_T_NAME, .optional = true, AT(docker_host), .value = "",
	  .help = "Where the Docker engine listens: unix:///path or tcp://host:port. Empty: "
		  "DOCKER_HOST, else the docker context in force, else the usual socket." },
	{ "docker.image", BJ_T_NAME, .optional = true, AT(docker_image), .value = "",
	  .env = "DOCKER_IMAGE", .help = "One image for both languages. Empty: the next two." },
	{ "docker.python_image", BJ_T_NAME, AT(docker_python), .value = "python:3.11-slim",
	  .help = "The image for Python scripts." },
	{ "docker.bash_image", BJ_T_NAME, AT(docker_bash), .value = "bash:5.2-alpine",
	  .help = "The image for Bash scripts." },
	{ "docker.runtime", BJ_T_NAME, .optional = true, AT(docker_runtime), .value = "",
	  .help = "The OCI runtime by its name in the engine, such as crun or runsc. Empty: the "
		  "engine's own choice." },
	{ "docker.seccomp", BJ_T_CHOICE, AT(docker_seccomp), .choices = DOCKER_PROFILES,
	  .value = "belljar",
	  .help = "The profile of containers when the setting seccomp names no file: belljar's or "
		  "the engine's default." },
	{ "docker.mount_script", BJ_T_BOOL, AT(docker_mount_script), .value = "true",
	  .help = "Hand scripts to an engine on this machine through a read-only mount of memory, "
		  "which is faster. false: upload them always." },
	{ "docker.pull", BJ_T_BOOL, AT(docker_pull), .value = "false",
	  .help = "Fetch an image that is missing from its registry." },
	{ "docker.pool", BJ_T_COUNT, AT(docker_pool), 0, 64, .value = "2",
	  .help = "Containers kept waiting for a script, once a second one was run. 0: none." },
	{ "docker.sweep", BJ_T_DURATION, AT(docker_sweep_ms), 100, 86400000, .value = "30s",
	  .help = "How often a service looks for containers of belljars that died." },
	{ "docker.timeout", BJ_T_DURATION, AT(docker_timeout_ms), 100, 600000, .value = "10s",
	  .help = "How long the engine may take to answer one request." },

	{ "audit.enabled", BJ_T_BOOL, AT(audit.enabled), .value = "true",
	  .help = "Keep the audit log. A run that cannot be recorded there does not take place." },
	{ "audit.key", BJ_T_FILE, .optional = true, AT(audit.key), .value = "",
	  .help = "The file of the key that signs the log, made when it is missing. Empty: "
		  "keys/audit.key in the directory of records." },
	{ "audit.max_size", BJ_T_SIZE, AT(audit.max_size), 4 * KIB, TIB, .value = "64MiB",
	  .help = "Size after which the log goes on in another file. The chain goes on too." },
	{ "audit.sync", BJ_T_CHOICE, AT(audit.sync), .choices = AUDIT_SYNCS, .value = "group",
	  .help = "When lines of the log are on the disk for sure. group is within 50 ms in the "
		  "service and left to the kernel elsewhere, always before the next step, never "
		  "leaves it to the kernel." },
	{ "record.enabled", BJ_T_BOOL, AT(record.enabled), .value = "true",
	  .help = "Keep a record of every run. A run that cannot be recorded does not take "
		  "place." },
	{ "record.keep_time", BJ_T_DURATION, AT(record.keep_time_ms), 1000, 100 * YEAR_MS,
	  .value = "2160h", .help = "How long records and artifacts are kept." },
	{ "record.keep_size", BJ_T_SIZE, AT(record.keep_bytes), MIB, TIB, .value = "2GiB",
	  .help = "Size of all records and artifacts together. The oldest go when there is more." },
	{ "artifacts.max_bytes", BJ_T_SIZE, AT(record.artifact_bytes), 4 * KIB, 64 * GIB,
	  .value = "128MiB", .help = "Size of what is kept of one run beside its record." },
	{ "artifacts.files", BJ_T_BOOL, AT(record.files), .value = "false",
	  .help = "Also keep the files that a script leaves in out/, where the caller takes "
		  "none." },
	{ "approval.rules", BJ_T_RULES, .optional = true, AT(approval.rules),
	  .value = BJ_RULE_SCRIPTS "," BJ_RULE_API "," BJ_RULE_TOOLS,
	  .help = "Which runs wait for a person: the first rule that fits decides, then the "
		  "defaults, and a run that none fits is allowed. A rule is ask, allow or deny, "
		  "then what it looks at, such as through=own, through=api, through=tool, "
		  "tool=NAME, tenant=NAME, backend=NAME or risk>=high. A last rule that looks at "
		  "nothing, such as allow, leaves the defaults out. Empty: nothing waits." },
	{ "approval.expire", BJ_T_DURATION, AT(approval.expire_ms), 1000, YEAR_MS, .value = "24h",
	  .help = "How long a run waits for a decision." },
	{ "approval.reuse", BJ_T_DURATION, AT(approval.reuse_ms), 1, YEAR_MS, .value = "24h",
	  .help = "How long an approval holds for the very same run. With 1ms every run asks "
		  "again." },
	{ "approval.scope", BJ_T_CHOICE, AT(approval.scope), .choices = SCOPES, .value = "tool",
	  .help = "For whom it holds: the same tenant through the same tool, the same tenant "
		  "through any door, or everybody." },

	{ "trace.endpoint", BJ_T_NAME, .optional = true, AT(trace_endpoint), .value = "",
	  .env = "OTEL_EXPORTER_OTLP_ENDPOINT",
	  .help = "Where the service sends traces: a collector of OTLP over HTTP, such as "
		  "http://127.0.0.1:4318. Empty: nowhere." },
	{ "price.run", BJ_T_COUNT, AT(price.run), 0, 1000000000, .value = "0",
	  .help = "What a run costs, in millionths of the currency. 0: nothing." },
	{ "price.cpu_second", BJ_T_COUNT, AT(price.cpu_second), 0, 1000000000, .value = "0",
	  .help = "What a second of CPU costs, in millionths of the currency." },
	{ "price.gb_second", BJ_T_COUNT, AT(price.gb_second), 0, 1000000000, .value = "0",
	  .help = "What a GiB of memory costs for a second, in millionths of the currency. A run "
		  "pays for its peak as long as it lasts." },
	{ "price.currency", BJ_T_NAME, AT(price.currency), .value = "USD",
	  .help = "The name of the currency." },

	{ "serve.socket", BJ_T_FILE, .optional = true, AT(serve.socket), .value = "",
	  .help = "The Unix socket of the service. Empty: $XDG_RUNTIME_DIR/belljar/belljar.sock, "
		  "and /run/belljar/belljar.sock for root." },
	{ "serve.listen", BJ_T_NAME, .optional = true, AT(serve.listen), .value = "",
	  .help = "Also listen on this HOST:PORT. Needs an API key. Empty: no TCP." },
	{ "serve.api_key", BJ_T_SECRET, .optional = true, AT(serve.api_key), .value = "",
	  .help = "The key that requests over TCP must bring. Better in a file or a variable than "
		  "here." },
	{ "serve.api_key_file", BJ_T_FILE, .optional = true, AT(serve.api_key_file), .value = "",
	  .help = "A file that holds the API key and nothing else." },
	{ "serve.user", BJ_T_NAME, AT(serve.user), .value = "nobody",
	  .help = "Whom the part of the service that reads requests becomes when root starts it." },
	{ "serve.concurrency", BJ_T_COUNT, AT(serve.concurrency), 1, 4096, .value = "100",
	  .help = "Runs at once. More wait for their turn." },
	{ "serve.queue", BJ_T_COUNT, AT(serve.queue), 0, 10000, .value = "1000",
	  .help = "Runs that may wait for their turn. More are refused with status 429." },
	{ "serve.max_body", BJ_T_SIZE, AT(serve.max_body), 4 * KIB, GIB, .value = "32MiB",
	  .help = "Size of the body of one request." },
	{ "serve.max_connections", BJ_T_COUNT, AT(serve.max_connections), 1, 10000, .value = "1024",
	  .help = "Connections at once, on each socket." },
	{ "serve.request_timeout", BJ_T_DURATION, AT(serve.request_timeout_ms), 100, YEAR_MS,
	  .value = "30s",
	  .help = "How long a client may take to send a whole request. A connection that stays "
		  "idle as long is closed." },
	{ "serve.grace", BJ_T_DURATION, AT(serve.grace_ms), 1, YEAR_MS, .value = "10s",
	  .help = "How long runs may go on when the service is told to stop. Then they are "
		  "cancelled." },
	{ "serve.keep", BJ_T_COUNT, AT(serve.keep), 1, 1000000, .value = "1000",
	  .help = "Ended runs that the service remembers." },
	{ "serve.keep_time", BJ_T_DURATION, AT(serve.keep_time_ms), 1, YEAR_MS, .value = "1h",
	  .help = "How long the service remembers an ended run." },
	{ "serve.keep_output", BJ_T_SIZE, AT(serve.keep_output), 32 * KIB, GIB, .value = "64KiB",
	  .help = "Bytes of events of one run that are kept for those who ask late." },

	{ "tool.max_text", BJ_T_SIZE, AT(tool_max_text), KIB, 16 * MIB, .value = "16KiB",
	  .help = "Size of the text that a tool gives to a model. More is cut in the middle, and "
		  "the text says how much." },

	{ "mcp.sessions", BJ_T_COUNT, AT(mcp.sessions), 1, 100000, .value = "1000",
	  .help = "Sessions at once over HTTP. One more ends the session that was idle longest." },
	{ "mcp.session_idle", BJ_T_DURATION, AT(mcp.session_idle_ms), 100, YEAR_MS, .value = "30m",
	  .help = "How long a session may be idle before it is forgotten." },
	{ "mcp.keep_events", BJ_T_SIZE, AT(mcp.keep_events), 4 * KIB, GIB, .value = "1MiB",
	  .help = "Bytes of events that a session keeps for a client that comes back." },
	{ "mcp.allowed_host", BJ_T_NAME, .optional = true, AT(mcp.allowed_host), .value = "",
	  .help = "A further host name under which clients may reach /mcp. Empty: only "
		  "localhost, 127.0.0.1, [::1] and the host of serve.listen." },
};
const size_t bj_table_size = BJ_ARRAY_SIZE(bj_table);

_Static_assert(BJ_ARRAY_SIZE(bj_table) <= BJ_MAX_SETTINGS, "raise BJ_MAX_SETTINGS");
_Static_assert(sizeof(enum bj_backend_id) == sizeof(int), "choices are stored as int");

static const struct bj_shipped_value NO_VALUES[] = { { 0 } };
static const struct bj_shipped_value ANALYSIS[] = {
	{ "limits.memory", "2GiB" },
	{ "limits.cpus", "0.5" },
	{ "limits.timeout", "600s" },
	{ "limits.max_timeout", "600s" },
	{ 0 },
};

const struct bj_shipped_profile bj_shipped_profiles[] = {
	{ "default", "the defaults of limits", NO_VALUES },
	{ "analysis", "longer work on more data: 2GiB, half a CPU, 600s", ANALYSIS },
	{ 0 },
};

const struct bj_setting *bj_table_find(const char *key)
{
	for (size_t i = 0; i < bj_table_size; i++)
		if (strcmp(bj_table[i].key, key) == 0)
			return &bj_table[i];
	return NULL;
}

bool bj_table_is_among(const struct bj_setting *setting, const char *only)
{
	const size_t len = only ? strlen(only) : 0;

	return !only || (strncmp(setting->key, only, len) == 0 &&
			 (setting->key[len] == '\0' || setting->key[len] == '.'));
}

bool bj_settings_has(const char *only)
{
	return bj_table_find(only) || bj_table_section(only);
}

const char *const *bj_settings_choices(const char *key)
{
	const struct bj_setting *setting = bj_table_find(key);

	return setting ? setting->choices : NULL;
}

const struct bj_setting *bj_table_section(const char *path)
{
	const size_t len = strlen(path);

	for (size_t i = 0; i < bj_table_size; i++)
		if (strncmp(bj_table[i].key, path, len) == 0 && bj_table[i].key[len] == '.')
			return &bj_table[i];
	return NULL;
}

/* The last word of a key: @key itself where it is in no section. */
static const char *last_word(const char *key)
{
	const char *dot = strrchr(key, '.');

	return dot ? dot + 1 : key;
}

const char *bj_settings_suggest(const char *key)
{
	const char *keys[BJ_MAX_SETTINGS + 1], *words[BJ_MAX_SETTINGS];
	const char *last = last_word(key);

	for (size_t i = 0; i < bj_table_size; i++) {
		keys[i] = bj_table[i].key;
		words[i] = last_word(keys[i]);
		/* The right word in the wrong section. */
		if (strcmp(words[i], last) == 0)
			return keys[i];
	}
	keys[bj_table_size] = "profiles";

	const char *near = bj_nearest(key, keys, bj_table_size + 1);
	const char *word = near ? last_word(near) : NULL;

	/* A section that is right makes no word of it nearly right. */
	if (word && bj_nearest(last, &word, 1))
		return near;
	if (last != key)
		return NULL;
	near = bj_nearest(last, words, bj_table_size);
	for (size_t i = 0; near && i < bj_table_size; i++)
		if (words[i] == near)
			return keys[i];
	return NULL;
}

void bj_table_env_name(const struct bj_setting *setting, char name[BJ_ENV_NAME])
{
	size_t n = (size_t)snprintf(name, BJ_ENV_NAME, "BELLJAR_");

	for (const char *p = setting->key; *p && n + 1 < BJ_ENV_NAME; p++)
		name[n++] = *p == '.' ? '_' : *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
	name[n] = '\0';
}

static const char *const TYPE_NAMES[] = {
	[BJ_T_COUNT] = "number",
	[BJ_T_SIZE] = "size",
	[BJ_T_DURATION] = "duration",
	[BJ_T_CPUS] = "CPUs",
	[BJ_T_CHOICE] = "choice",
	[BJ_T_WORD] = "choice",
	[BJ_T_BOOL] = "true/false",
	[BJ_T_NAME] = "name",
	[BJ_T_FILE] = "path",
	[BJ_T_PATH] = "absolute path",
	[BJ_T_MODULES] = "list of modules",
	[BJ_T_NAMES] = "list of names",
	[BJ_T_SECRET] = "secret",
	[BJ_T_RULES] = "list of rules",
};

const char *bj_table_type_name(const struct bj_setting *setting)
{
	if (setting->type == BJ_T_MODULES && setting->choices)
		return "list of choices";
	return TYPE_NAMES[setting->type];
}

bool bj_table_is_list(const struct bj_setting *setting)
{
	return setting->type == BJ_T_MODULES || setting->type == BJ_T_NAMES ||
	       setting->type == BJ_T_RULES;
}

void bj_table_number(const struct bj_setting *setting, uint64_t v, char text[BJ_SIZE_TEXT])
{
	if (setting->type == BJ_T_SIZE)
		bj_size_format(v, text);
	else if (setting->type == BJ_T_DURATION)
		bj_duration_format(v, text);
	else if (setting->type == BJ_T_CPUS)
		bj_cpus_format((uint32_t)v, text);
	else
		snprintf(text, BJ_SIZE_TEXT, "%" PRIu64, v);
}

static void add_choices(struct bj_buf *buf, const char *const *choices)
{
	for (size_t i = 0; choices[i]; i++)
		bj_buf_printf(buf, "%s%s",
			      i == 0           ? ""
			      : choices[i + 1] ? ", "
					       : " or ",
			      choices[i]);
}

char *bj_table_allowed(const struct bj_setting *setting)
{
	static const char *const forms[] = {
		[BJ_T_COUNT] = "a whole number",
		[BJ_T_SIZE] = "a size such as 512MiB or 1G,",
		[BJ_T_DURATION] = "a duration such as 60, 1.5s, 2m or 500ms,",
		[BJ_T_CPUS] = "a number of CPUs such as 1 or 0.5,",
		[BJ_T_BOOL] = "true or false",
		[BJ_T_NAME] = "a name of letters, digits and ._-/:@",
		[BJ_T_FILE] = "a path",
		[BJ_T_PATH] = "an absolute path with no part \"..\"",
		[BJ_T_MODULES] = "a list of Python module names",
		[BJ_T_NAMES] = "a list of names of letters, digits and ._-/:@, in number",
		[BJ_T_SECRET] = "16 to 255 printable characters without blanks",
		[BJ_T_RULES] = "rules such as \"ask through=api risk>=high\"",
	};
	struct bj_buf buf = { 0 };

	if (setting->choices) {
		if (setting->type == BJ_T_MODULES)
			bj_buf_puts(&buf, "a list of ");
		add_choices(&buf, setting->choices);
		return bj_buf_take(&buf);
	}
	bj_buf_puts(&buf, forms[setting->type]);
	if (setting->max > 0) {
		char min[BJ_SIZE_TEXT], max[BJ_SIZE_TEXT];

		bj_table_number(setting, setting->min, min);
		bj_table_number(setting, setting->max, max);
		bj_buf_printf(&buf, " from %s to %s", min, max);
	}
	return bj_buf_take(&buf);
}
