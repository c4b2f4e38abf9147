// SPDX-License-Identifier: GPL-2.0
/* Who we are, as launchers say, and addresses of aggregators. */
#include "lib_fake.h"

#include "launch_parse.h"

/* ---- rank and size, of an environment of our own --------------------------------- */

/* "NAME=value" in a row, NULL at the end */
static const char *get(void *context, const char *name)
{
	const char *const *line = context;
	size_t length = strlen(name);

	for (; *line; line++)
		if (!strncmp(*line, name, length) && (*line)[length] == '=')
			return *line + length + 1;
	return NULL;
}

static struct peerlane_launch launch;
static char reason[PL_LAUNCH_REASON];

static bool ask(const char *const *lines)
{
	const struct pl_environment environment = {
		.get = get, .context = (void *)(uintptr_t)lines,
	};

	memset(&launch, 0, sizeof(launch));
	reason[0] = '\0';
	return pl_launch_rank(&environment, &launch, reason);
}

#define ASK(...) ask((const char *const []){ __VA_ARGS__, NULL })

static void check_rank(const char *launcher, uint32_t rank, uint32_t ranks)
{
	CHECK_STR(launch.launcher, launcher);
	CHECK_INT(launch.rank, rank);
	CHECK_INT(launch.ranks, ranks);
}

static void nobody_says(void)
{
	CHECK(ASK("HOME=x"));
	check_rank("", 0, 0);
	CHECK(ASK("PEERLANE_RANK=", "PEERLANE_SIZE=", "RANK="));
	check_rank("", 0, 0);
}

static void each_launcher(void)
{
	CHECK(ASK("PEERLANE_RANK=0", "PEERLANE_SIZE=1"));
	check_rank("peerlane", 0, 1);
	CHECK(ASK("RANK=3", "WORLD_SIZE=4"));
	check_rank("torchrun", 3, 4);
	CHECK(ASK("OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2",
		  "PMIX_RANK=1"));
	check_rank("mpirun", 1, 2);
	CHECK(ASK("PMI_RANK=5", "PMI_SIZE=6"));
	check_rank("mpiexec", 5, 6);
	CHECK(ASK("PMIX_RANK=7", "SLURM_NTASKS=8"));
	check_rank("pmix", 7, 8);
	CHECK(ASK("SLURM_PROCID=1023", "SLURM_NTASKS=1024"));
	check_rank("srun", 1023, 1024);
}

/* One torchrun for each node, which srun started */
static void the_inner_launcher_counts(void)
{
	CHECK(ASK("SLURM_PROCID=1", "SLURM_NTASKS=2", "RANK=9",
		  "WORLD_SIZE=16"));
	check_rank("torchrun", 9, 16);
	CHECK(ASK("RANK=9", "WORLD_SIZE=16", "PEERLANE_RANK=2",
		  "PEERLANE_SIZE=3"));
	check_rank("peerlane", 2, 3);
	/* a RANK that is nobody's */
	CHECK(ASK("RANK=captain", "OMPI_COMM_WORLD_RANK=0",
		  "OMPI_COMM_WORLD_SIZE=2"));
	check_rank("mpirun", 0, 2);
}

static void half_of_it(void)
{
	CHECK(!ASK("PEERLANE_RANK=0"));
	CHECK_STR(reason, "PEERLANE_RANK is set, and PEERLANE_SIZE is not");
	CHECK(!ASK("OMPI_COMM_WORLD_RANK=0"));
	CHECK_HAS(reason, "OMPI_COMM_WORLD_SIZE is not");
	/* in an allocation, and not in a step */
	CHECK(ASK("SLURM_NTASKS=4"));
	CHECK(ASK("SLURM_PROCID=0"));
	check_rank("", 0, 0);
}

static void nonsense(void)
{
	static const char *const sizes[] = {
		"0", "1025", "-1", "x", "4x", " 4", "+4", "99999999999999999999",
		"0x", "4.0",
	};
	static const char *const ranks[] = { "4", "-1", "x", "1 ", "0x" };
	char line[64];
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		snprintf(line, sizeof(line), "PEERLANE_SIZE=%s", sizes[i]);
		if (!CHECK(!ASK("PEERLANE_RANK=0", line)))
			printf("# %s\n", line);
		CHECK_HAS(reason, "no number of ranks");
		check_rank("", 0, 0);
	}
	for (i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		snprintf(line, sizeof(line), "RANK=%s", ranks[i]);
		if (!CHECK(!ASK(line, "WORLD_SIZE=4")))
			printf("# %s\n", line);
		CHECK_HAS(reason, "no rank below");
	}
}

static void a_reason_has_an_end(void)
{
	char line[4096] = "PEERLANE_SIZE=";

	memset(line + 14, 'x', sizeof(line) - 15);
	line[sizeof(line) - 1] = '\0';
	CHECK(!ASK("PEERLANE_RANK=0", line));
	CHECK(strlen(reason) < PL_LAUNCH_REASON - 1);
}

/* ---- jobs ------------------------------------------------------------------------- */

static const char *job_of(const char *launcher, const char *const *lines)
{
	const struct pl_environment environment = {
		.get = get, .context = (void *)(uintptr_t)lines,
	};
	static char job[PL_LAUNCH_JOB];

	pl_launch_job(&environment, launcher, job);
	return job;
}

#define JOB(launcher, ...) \
	job_of(launcher, (const char *const []){ __VA_ARGS__, NULL })

static void jobs(void)
{
	CHECK_STR(JOB("srun", "SLURM_JOB_ID=17", "SLURM_STEP_ID=2"), "17 2");
	CHECK_STR(JOB("mpirun", "PMIX_NAMESPACE=abc"), "abc");
	CHECK_STR(JOB("torchrun", "TORCHELASTIC_RUN_ID=none", "MASTER_ADDR=h",
		      "MASTER_PORT=1"), "none h 1");
	CHECK_STR(JOB("torchrun", "MASTER_PORT=1"), "1");
	CHECK_STR(JOB("srun", "PMIX_NAMESPACE=abc"), "");
	CHECK_STR(JOB("peerlane", "SLURM_JOB_ID=17"), "");
}

static void a_job_has_an_end(void)
{
	char id[2000] = "SLURM_JOB_ID=", step[2000] = "SLURM_STEP_ID=";

	memset(id + 13, 'x', sizeof(id) - 14);
	memset(step + 14, 'y', sizeof(step) - 15);
	id[sizeof(id) - 1] = '\0';
	step[sizeof(step) - 1] = '\0';
	CHECK_INT(strlen(JOB("srun", id, step)), 301);
}

/* ---- numbers and addresses ----------------------------------------------------------- */

static void numbers(void)
{
	uint64_t value = 7;

	CHECK(pl_parse_number("0", 10, &value));
	CHECK_INT(value, 0);
	CHECK(pl_parse_number("0x1F", UINT64_MAX, &value));
	CHECK_INT(value, 31);
	CHECK(pl_parse_number("18446744073709551615", UINT64_MAX, &value));
	CHECK(value == UINT64_MAX);
	CHECK(!pl_parse_number("18446744073709551616", UINT64_MAX, &value));
	CHECK(!pl_parse_number("11", 10, &value));
	CHECK(!pl_parse_number("", 10, &value));
	CHECK(!pl_parse_number("0x", 10, &value));
	CHECK(!pl_parse_number("1f", 100, &value));
	CHECK(!pl_parse_number("-1", UINT64_MAX, &value));
}

static void words_of_a_list(void)
{
	const char *at = " a,b:1 ,\tc\n# d,e\n\n#\nf#g,h\n", *word;
	static const char *const want[] = { "a", "b:1", "c", "f" };
	size_t length, i;

	for (i = 0; (length = pl_list_word(&at, &word)); i++)
		if (CHECK(i < 4))
			CHECK(length == strlen(want[i]) &&
			      !memcmp(word, want[i], length));
	CHECK_INT(i, 4);
	CHECK_INT(pl_list_word(&at, &word), 0);
	at = "# only";
	CHECK_INT(pl_list_word(&at, &word), 0);
}

static char host[PL_HOST_MAX];
static uint16_t port;

/* In exactly as much memory: the sanitizer looks. */
static bool parse(const char *word)
{
	size_t length = strlen(word);
	char *exact = malloc(length ? length : 1);
	bool ret;

	memcpy(exact, word, length);
	port = 9;
	strcpy(host, "?");
	ret = pl_parse_address(exact, length, host, &port);
	free(exact);
	return ret;
}

static void addresses(void)
{
	static const struct {
		const char *word, *host;
		uint16_t port;
	} rows[] = {
		{ "10.0.0.1", "10.0.0.1", 9 }, { "10.0.0.1:80", "10.0.0.1", 80 },
		{ "node7", "node7", 9 }, { "node7:0", "node7", 0 },
		{ "[::1]:65535", "::1", 65535 }, { "[::1]", "::1", 9 },
		{ "fe80::1%eth0", "fe80::1%eth0", 9 }, { "::1", "::1", 9 },
		{ "[fe80::1%eth0]:5", "fe80::1%eth0", 5 }, { ":7", "", 7 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!CHECK(parse(rows[i].word)))
			printf("# %s\n", rows[i].word);
		CHECK_STR(host, rows[i].host);
		CHECK_INT(port, rows[i].port);
	}
}

static void addresses_that_are_none(void)
{
	static const char *const rows[] = {
		"", "[", "[]", "[]:1", "[::1", "[::1]x", "[::1]:", "[::1]:x",
		"a:", "a:x", "a:65536", "a:-1", "a: 1", "a:+1", "[a]b:1", "a]:1",
		"a:0x50", "a:123456789", "[[a]]",
	};
	char *word;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!CHECK(!parse(rows[i])))
			printf("# %s\n", rows[i]);
	word = malloc(PL_HOST_MAX + 1);
	memset(word, 'a', PL_HOST_MAX);
	word[PL_HOST_MAX] = '\0';
	CHECK(!parse(word));
	word[PL_HOST_MAX - 1] = '\0';
	CHECK(parse(word));
	free(word);
}

/* ---- the whole ------------------------------------------------------------------------- */

static void clean(void)
{
	static const char *const names[] = {
		"PEERLANE_RANK", "PEERLANE_SIZE", "RANK", "WORLD_SIZE",
		"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",
		"PMI_SIZE", "PMIX_RANK", "PMIX_NAMESPACE", "SLURM_PROCID",
		"SLURM_NTASKS", "SLURM_JOB_ID", "SLURM_STEP_ID",
		"PEERLANE_GROUP", "PEERLANE_SECRET", "PEERLANE_SECRET_FILE",
		"PEERLANE_AGGREGATORS", "PEERLANE_AGGREGATORS_FILE",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	fake_reset();
}

static void nothing_is_set(void)
{
	struct peerlane_group_options options = { .rank = 3, .ranks = 4,
						  .group = 5, .secret = { 6 } };

	clean();
	CHECK_INT(peerlane_launch_read(&launch, &options), 0);
	check_rank("", 0, 0);
	CHECK_INT(launch.group, 0);
	CHECK_STR(launch.aggregators, "");
	/* what is not said stays */
	CHECK_INT(options.rank, 3);
	CHECK_INT(options.ranks, 4);
	CHECK_INT(options.group, 5);
	CHECK_INT(options.secret[0], 6);
}

static void all_is_set(void)
{
	struct peerlane_group_options options = { .ranks = 0 };
	uint8_t secret[PEERLANE_SECRET];

	clean();
	setenv("SLURM_PROCID", "1", 1);
	setenv("SLURM_NTASKS", "2", 1);
	setenv("PEERLANE_GROUP", "0x10", 1);
	setenv("PEERLANE_SECRET", "words", 1);
	setenv("PEERLANE_AGGREGATORS", "a,b", 1);
	CHECK_INT(peerlane_launch_read(&launch, &options), 0);
	check_rank("srun", 1, 2);
	CHECK_INT(options.rank, 1);
	CHECK_INT(options.ranks, 2);
	CHECK_INT(options.group, 16);
	CHECK_STR(launch.aggregators, "a,b");
	CHECK_INT(peerlane_endpoint_secret("words", secret), 0);
	CHECK(!memcmp(secret, options.secret, sizeof(secret)));
	CHECK(!memcmp(secret, launch.secret, sizeof(secret)));
}

static void the_job_names_the_group(void)
{
	uint64_t group;

	clean();
	setenv("SLURM_PROCID", "0", 1);
	setenv("SLURM_NTASKS", "2", 1);
	setenv("SLURM_JOB_ID", "41", 1);
	CHECK_INT(peerlane_launch_read(&launch, NULL), 0);
	group = launch.group;
	CHECK(group);
	CHECK_INT(peerlane_launch_read(&launch, NULL), 0);
	CHECK(group == launch.group);
	setenv("SLURM_JOB_ID", "42", 1);
	CHECK_INT(peerlane_launch_read(&launch, NULL), 0);
	CHECK(launch.group && group != launch.group);
}

static void write_file(const char *path, const char *text, size_t size)
{
	FILE *file = fopen(path, "w");

	if (!file || fwrite(text, 1, size, file) != size || fclose(file))
		abort();
}

static void files(void)
{
	char secret[] = "secret.XXXXXX", list[] = "list.XXXXXX";
	uint8_t bytes[PEERLANE_SECRET];

	clean();
	close(mkstemp(secret));
	close(mkstemp(list));
	write_file(secret, "two words\nmore\n", 15);
	write_file(list, "# ours\nx:1\ny\n", 13);
	setenv("PEERLANE_SECRET_FILE", secret, 1);
	setenv("PEERLANE_AGGREGATORS_FILE", list, 1);
	CHECK_INT(peerlane_launch_read(&launch, NULL), 0);
	CHECK_INT(peerlane_endpoint_secret("two words", bytes), 0);
	CHECK(!memcmp(bytes, launch.secret, sizeof(bytes)));
	CHECK_STR(launch.aggregators, "# ours\nx:1\ny\n");
	write_file(secret, "\nwords\n", 7);
	CHECK_INT(peerlane_launch_read(&launch, NULL), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "its first line is empty (EINVAL)");
	unlink(secret);
	CHECK_INT(peerlane_launch_read(&launch, NULL), -ENOENT);
	unlink(list);
}

static void what_is_too_long(void)
{
	static char text[PEERLANE_AGGREGATORS_TEXT + 1];
	char list[] = "list.XXXXXX";

	clean();
	memset(text, 'a', sizeof(text) - 1);
	setenv("PEERLANE_AGGREGATORS", text, 1);
	launch.ranks = 77;
	CHECK_INT(peerlane_launch_read(&launch, NULL), -E2BIG);
	CHECK_INT(launch.ranks, 77);
	setenv("PEERLANE_AGGREGATORS", text + 1, 1);
	CHECK_INT(peerlane_launch_read(&launch, NULL), 0);
	CHECK_STR(launch.aggregators, text + 1);
	unsetenv("PEERLANE_AGGREGATORS");
	close(mkstemp(list));
	write_file(list, text, sizeof(text) - 1);
	setenv("PEERLANE_AGGREGATORS_FILE", list, 1);
	CHECK_INT(peerlane_launch_read(&launch, NULL), -E2BIG);
	CHECK_HAS(peerlane_strerror(), "more than 4095 bytes");
	unlink(list);
	clean();
	setenv("PEERLANE_RANK", "5", 1);
	CHECK_INT(peerlane_launch_read(&launch, NULL), -EINVAL);
	CHECK_HAS(peerlane_strerror(), "PEERLANE_SIZE is not (EINVAL)");
	clean();
}

static void numbers_of_groups(void)
{
	uint64_t group = 0, other = 0;

	fake_reset();
	CHECK_INT(peerlane_group_number("17", &group), 0);
	CHECK_INT(group, 17);
	CHECK_INT(peerlane_group_number("train", &group), 0);
	CHECK_INT(peerlane_group_number("train ", &other), 0);
	CHECK(group && other && group != other);
	CHECK_INT(peerlane_group_number("0", &other), -EINVAL);
	CHECK_INT(peerlane_group_number("", &other), -EINVAL);
	CHECK_INT(peerlane_group_number(NULL, &other), -EINVAL);
}

static const struct tap_case cases[] = {
	TAP_CASE(nobody_says), TAP_CASE(each_launcher),
	TAP_CASE(the_inner_launcher_counts), TAP_CASE(half_of_it),
	TAP_CASE(nonsense), TAP_CASE(a_reason_has_an_end), TAP_CASE(jobs),
	TAP_CASE(a_job_has_an_end), TAP_CASE(numbers),
	TAP_CASE(words_of_a_list), TAP_CASE(addresses),
	TAP_CASE(addresses_that_are_none), TAP_CASE(nothing_is_set),
	TAP_CASE(all_is_set), TAP_CASE(the_job_names_the_group),
	TAP_CASE(files), TAP_CASE(what_is_too_long),
	TAP_CASE(numbers_of_groups),
};

int main(void)
{
	char folder[] = "/tmp/lib_launch_test.XXXXXX";
	int ret;

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	ret = TAP_RUN(cases);
	return rmdir(folder) ? 1 : ret;
}
