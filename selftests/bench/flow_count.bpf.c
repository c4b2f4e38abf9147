// SPDX-License-Identifier: GPL-2.0
/*
 * What one would write to count flows without us: packets and bytes of each
 * 5-tuple, in a hash map that is allocated beforehand. With BY_QPN defined, of
 * each RDMA flow, as far as that goes with a counter: packets that are RoCE, in
 * one piece, by destination QPN and transport, and how many have an ECN mark.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

struct key {
	__be32 saddr;
	__be32 daddr;
	__be16 sport;
	__be16 dport;
	__u32 protocol;
};

struct value {
	__u64 packets;
	__u64 bytes;
#ifdef BY_QPN
	__u64 ce;
#endif
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 18);
	__type(key, struct key);
	__type(value, struct value);
} flows SEC(".maps");

#ifdef BY_QPN
#define ROCE_PORT	4791

/* Opcode, flags, P_Key, QPN with a byte before it, PSN with a byte before it */
struct bth {
	__u8 opcode;
	__u8 flags;
	__u16 pkey;
	__be32 qpn;
	__be32 psn;
};

static __always_inline bool fill_key(struct iphdr *ip, struct udphdr *udp,
				     void *end, struct key *key)
{
	struct bth *bth = (void *)(udp + 1);

	if ((void *)(bth + 1) > end || udp->dest != bpf_htons(ROCE_PORT) ||
	    ip->frag_off & bpf_htons(0x3fff) || bth->flags & 0x0f ||
	    bpf_ntohs(ip->tot_len) < bpf_ntohs(udp->len) + sizeof(*ip))
		return false;
	key->sport = 0;
	key->dport = bth->opcode >> 5;
	key->protocol = bth->qpn & bpf_htonl(0xffffff);
	return true;
}
#else
static __always_inline bool fill_key(struct iphdr *ip, struct udphdr *udp,
				     void *end, struct key *key)
{
	key->sport = udp->source;
	key->dport = udp->dest;
	key->protocol = IPPROTO_UDP;
	return true;
}
#endif

static __always_inline void count_mark(struct iphdr *ip, struct value *value)
{
#ifdef BY_QPN
	if ((ip->tos & 3) == 3)
		__sync_fetch_and_add(&value->ce, 1);
#endif
}

static __always_inline void count(struct __sk_buff *skb, __u32 offset)
{
	void *data = (void *)(long)skb->data;
	void *end = (void *)(long)skb->data_end;
	struct iphdr *ip = data + offset;
	struct udphdr *udp = (void *)(ip + 1);
	struct value *value, first = {};
	struct key key;

	if ((void *)(udp + 1) > end || ip->version != 4 || ip->ihl != 5 ||
	    ip->protocol != IPPROTO_UDP)
		return;
	key.saddr = ip->saddr;
	key.daddr = ip->daddr;
	if (!fill_key(ip, udp, end, &key))
		return;
	value = bpf_map_lookup_elem(&flows, &key);
	if (value) {
		__sync_fetch_and_add(&value->packets, 1);
		__sync_fetch_and_add(&value->bytes, skb->len);
		count_mark(ip, value);
		return;
	}
	first.packets = 1;
	first.bytes = skb->len;
	bpf_map_update_elem(&flows, &key, &first, BPF_ANY);
}

SEC("tc")
int count_frame(struct __sk_buff *skb)
{
	if (skb->protocol == bpf_htons(ETH_P_IP))
		count(skb, ETH_HLEN);
	return TC_ACT_OK;
}

SEC("cgroup_skb/ingress")
int count_packet_in(struct __sk_buff *skb)
{
	if (skb->protocol == bpf_htons(ETH_P_IP))
		count(skb, 0);
	return 1;
}

SEC("cgroup_skb/egress")
int count_packet_out(struct __sk_buff *skb)
{
	if (skb->protocol == bpf_htons(ETH_P_IP))
		count(skb, 0);
	return 1;
}

char _license[] SEC("license") = "GPL";
