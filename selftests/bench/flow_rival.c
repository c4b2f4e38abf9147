// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "flow_rival.h"
#include "flow_traffic.h"

/* Not in the headers of older kernels. */
#define ATTACH_TCX_INGRESS	46
#define ATTACH_TCX_EGRESS	47

const char *const hook_names[HOOKS] = { "cgroup", "clsact", "tcx" };

/* ---- conntrack ---- */

/*
 * One rule that needs the state of connections makes the kernel track all of
 * them. It is where no packet comes by, so that only the tracking costs.
 */
static const char on_rules[] =
	"add table ip bench;"
	"add chain ip bench f { type filter hook forward priority 0; };"
	"add rule ip bench f ct state new accept";

void conntrack_set(bool on)
{
	char command[512];

	snprintf(command, sizeof(command), "nft '%s'",
		 on ? on_rules : "delete table ip bench");
	if (system(command))
		die("%s", command);
}

uint32_t conntrack_count(void)
{
	FILE *file = fopen("/proc/sys/net/netfilter/nf_conntrack_count", "r");
	uint32_t count;

	if (!file || fscanf(file, "%u", &count) != 1)
		die("no count of connections");
	fclose(file);
	return count;
}

/* ---- eBPF ---- */

static struct {
	struct bpf_object *object;
	enum hook hook;
	struct bpf_tc_hook tc;
	int cgroup;
	int links[2];
} ebpf;

static int program_fd(const char *name)
{
	struct bpf_program *program;

	program = bpf_object__find_program_by_name(ebpf.object, name);
	if (!program)
		die("no program %s", name);
	return bpf_program__fd(program);
}

static void load(const char *path, bool is_lru)
{
	struct bpf_map *map;

	ebpf.object = bpf_object__open(path);
	if (!ebpf.object)
		die("%s: %s", path, strerror(errno));
	map = bpf_object__find_map_by_name(ebpf.object, "flows");
	if (!map)
		die("%s: no map of flows", path);
	if (is_lru)
		bpf_map__set_type(map, BPF_MAP_TYPE_LRU_HASH);
	if (bpf_object__load(ebpf.object))
		die("%s: %s", path, strerror(errno));
}

static bool attach_cgroup(void)
{
	ebpf.cgroup = open(TRAFFIC_CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ebpf.cgroup < 0)
		die(TRAFFIC_CGROUP ": %s", strerror(errno));
	return !bpf_prog_attach(program_fd("count_packet_out"), ebpf.cgroup,
				BPF_CGROUP_INET_EGRESS, 0) &&
	       !bpf_prog_attach(program_fd("count_packet_in"), ebpf.cgroup,
				BPF_CGROUP_INET_INGRESS, 0);
}

static void detach_cgroup(void)
{
	bpf_prog_detach2(program_fd("count_packet_out"), ebpf.cgroup,
			 BPF_CGROUP_INET_EGRESS);
	bpf_prog_detach2(program_fd("count_packet_in"), ebpf.cgroup,
			 BPF_CGROUP_INET_INGRESS);
	close(ebpf.cgroup);
}

static bool attach_clsact(unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = program_fd("count_frame"));

	ebpf.tc = (struct bpf_tc_hook){
		.sz = sizeof(ebpf.tc),
		.ifindex = (int)ifindex,
		.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS,
	};
	if (bpf_tc_hook_create(&ebpf.tc))
		return false;
	ebpf.tc.attach_point = BPF_TC_INGRESS;
	if (bpf_tc_attach(&ebpf.tc, &opts))
		return false;
	opts.prog_id = 0;
	opts.handle = 0;
	opts.priority = 0;
	ebpf.tc.attach_point = BPF_TC_EGRESS;
	return !bpf_tc_attach(&ebpf.tc, &opts);
}

static int tcx_link(unsigned int ifindex, unsigned int type)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (unsigned int)program_fd("count_frame");
	attr.link_create.target_ifindex = ifindex;
	attr.link_create.attach_type = type;
	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

static bool attach_tcx(unsigned int ifindex)
{
	ebpf.links[0] = tcx_link(ifindex, ATTACH_TCX_INGRESS);
	ebpf.links[1] = ebpf.links[0] < 0 ? -1 :
			tcx_link(ifindex, ATTACH_TCX_EGRESS);
	return ebpf.links[1] >= 0;
}

bool ebpf_begin(const char *object, enum hook hook, unsigned int ifindex,
		bool is_lru)
{
	bool done;

	load(object, is_lru);
	ebpf.hook = hook;
	done = hook == HOOK_CGROUP ? attach_cgroup() :
	       hook == HOOK_CLSACT ? attach_clsact(ifindex) :
				     attach_tcx(ifindex);
	if (!done && hook != HOOK_TCX)
		die("%s: %s", hook_names[hook], strerror(errno));
	if (!done)
		bpf_object__close(ebpf.object);
	return done;
}

static uint64_t sum_packets(void)
{
	int fd = bpf_object__find_map_fd_by_name(ebpf.object, "flows");
	uint64_t value[3], sum = 0;
	uint32_t key[4], *last = NULL;

	for (; !bpf_map_get_next_key(fd, last, key); last = key)
		if (!bpf_map_lookup_elem(fd, key, value))
			sum += value[0];
	return sum;
}

void ebpf_end(uint64_t *packets)
{
	*packets = sum_packets();
	if (ebpf.hook == HOOK_CGROUP) {
		detach_cgroup();
	} else if (ebpf.hook == HOOK_CLSACT) {
		ebpf.tc.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
		bpf_tc_hook_destroy(&ebpf.tc);
	} else {
		close(ebpf.links[0]);
		close(ebpf.links[1]);
	}
	bpf_object__close(ebpf.object);
}
