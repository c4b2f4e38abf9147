# SPDX-License-Identifier: GPL-2.0
"""Names and addresses of the ends of links.  Pure.

NIC r of node k is 10.r.k.1, the switch at its other end 10.r.k.2; the ends of
the i-th link, where both are switches, are in 172.16.0.0/12."""


def node(number, rail=1):
    return f"10.{rail}.{number}.1"


def subnet(number, rail):
    return f"10.{rail}.{number}.0/30"


def node_end(link):
    """The node that the addresses of a link come from, or None."""
    return next((end for end in link.ends if end.is_node), None)


def is_direct(link):
    return all(end.is_node for end in link.ends)


def of(link, device):
    """The address of the link's end at device."""
    if device.is_node:
        return node(device.number, link.rail)
    if end := node_end(link):
        return f"10.{link.rail}.{end.number}.2"
    return f"172.{16 + link.index // 16384}.{link.index // 64 % 256}." \
           f"{link.index % 64 * 4 + 1 + link.side(device)}"


def with_length(link, device):
    return of(link, device) + ("/32" if is_direct(link) else "/30")


def mac(link, device):
    return f"02:00:00:{link.index // 256:02x}:{link.index % 256:02x}:{1 + link.side(device):02x}"


def interface(link, device):
    """A node's are eth0, eth1 ...; a switch's are named after who is there."""
    return f"eth{link.rail - 1}" if device.is_node else link.peer(device).name


def rdma_device(transport, node_number, rail, rails):
    return f"{transport}{node_number}" + (f"_{rail}" if rails > 1 else "")
