// SPDX-License-Identifier: GPL-2.0
/* peerlane doctor: is this node fit for lossless RDMA? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* What NICs and switches have by convention for RDMA, and NCCL's users set */
#define DSCP_DEFAULT	26
#define INTERVAL_MAX	3600.0

/* ---- output ------------------------------------------------------------- */

static void print_json(const struct findings *findings)
{
	struct json_object *array = must(json_object_new_array());

	for (size_t i = 0; i < findings->count; i++)
		json_object_array_add(array, finding_json(&findings->list[i]));
	json_print(stdout, array, options.pretty);
}

static void print_text(const struct findings *findings, bool all)
{
	findings_print(findings, all);
	printf("%zu checks:", findings->count);
	for (int severity = SEVERITY_COUNT - 1; severity >= 0; severity--)
		printf(" %s %zu%s", severity_name((enum severity)severity),
		       findings_of(findings, (enum severity)severity),
		       severity ? "," : "\n");
}

/* ---- arguments ---------------------------------------------------------- */

/* "mlx5_0" or "mlx5_0/1"; cuts @text at the slash */
static int parse_device(char *text, struct request *request)
{
	char *slash = strchr(text, '/'), *end;
	unsigned long port;

	request->device = text;
	if (!slash)
		return STATUS_OK;
	port = strtoul(slash + 1, &end, 10);
	if (*end || !port || port > 255)
		return usage_error("\"%s\" is no port of an RDMA device, as in mlx5_0/1",
				   text);
	*slash = '\0';
	request->port = (uint32_t)port;
	return STATUS_OK;
}

static int parse_dscp(const char *text, struct request *request)
{
	char *end;
	unsigned long dscp = strtoul(text, &end, 10);

	if (!*text || *end || dscp > 63)
		return usage_error("a DSCP is a number from 0 to 63, not \"%s\"",
				   text);
	request->dscp = (uint32_t)dscp;
	return STATUS_OK;
}

static int parse_interval(const char *text, struct request *request)
{
	char *end;
	double seconds = strtod(text, &end);

	if (!*text || *end || !(seconds >= 0 && seconds <= INTERVAL_MAX))
		return usage_error("an interval is a number of seconds from 0 to %.0f, not \"%s\"",
				   INTERVAL_MAX, text);
	request->interval = seconds;
	return STATUS_OK;
}

static int parse_pair(const char *key, char *value, struct request *request)
{
	static const char *const keys[] = { "dev", "dscp", "interval" };
	int found = match_table("argument", key, keys, ARRAY_SIZE(keys),
				sizeof(keys[0]));

	if (found < 0)
		return STATUS_ERROR;
	if (!value)
		return usage_error("%s needs a value", keys[found]);
	switch (found) {
	case 0:
		return parse_device(value, request);
	case 1:
		return parse_dscp(value, request);
	default:
		return parse_interval(value, request);
	}
}

static int parse(int argc, char **argv, struct request *request, bool *all)
{
	for (int i = 0; i < argc; i++) {
		int status;

		if (!strcmp(argv[i], "all")) {
			*all = true;
			continue;
		}
		status = parse_pair(argv[i], i + 1 < argc ? argv[i + 1] : NULL,
				    request);
		if (status)
			return status;
		i++;
	}
	return STATUS_OK;
}

/* ---- the command -------------------------------------------------------- */

static void judge(const struct facts *facts, struct findings *findings)
{
	judge_node(facts, findings);
	for (size_t i = 0; i < facts->port_count; i++) {
		const struct facts_port *port = &facts->ports[i];

		judge_port(port, findings);
		judge_pfc(port, facts->request.dscp, findings);
		judge_pause(port, findings);
		judge_counters(port, findings);
	}
}

static int doctor(int argc, char **argv)
{
	struct request request = { .dscp = DSCP_DEFAULT, .interval = 1 };
	struct findings findings = { 0 };
	struct facts facts;
	bool all = false;
	int status, error;

	status = parse(argc, argv, &request, &all);
	if (status)
		return status;
	error = facts_read(&request, &facts);
	if (error)
		return library_error(error);
	judge(&facts, &findings);
	if (options.json)
		print_json(&findings);
	else
		print_text(&findings, all);
	if (findings_of(&findings, SEVERITY_PROBLEM) ||
	    findings_of(&findings, SEVERITY_WARNING))
		status = STATUS_FINDING;
	findings_free(&findings);
	facts_free(&facts);
	return status;
}

const struct command doctor_command = {
	"doctor", doctor, "[dev NAME[/PORT]] [dscp N] [interval SECONDS] [all]",
	"is this node fit for lossless RDMA?"
};
