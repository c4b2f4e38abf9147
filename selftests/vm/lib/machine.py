# SPDX-License-Identifier: GPL-2.0
"""How a node looks: the QEMU command line, and nothing else."""

import json

COMMAND_LINE = (
    "console=ttyS0,115200 ignore_loglevel printk.devkmsg=on "
    # No panic_on_warn: a warning is found in the log anyway, and the tests
    # behind it still run.  An oops leaves nothing to trust, so it ends the node.
    "panic=-1 oops=panic "
    # Emulated timers are late on a busy machine; the TSC, the host's clock, is right.
    "no_timer_check tsc=reliable rcupdate.rcu_cpu_stall_timeout=60 "
    "random.trust_cpu=on mitigations=off net.ifnames=0"
)


def sink(folder):
    """A backend that takes every frame and sends it nowhere.  Without one, a
    sender whose peers have gone is held up until its watchdog barks.  (User
    mode networking would not do: it answers connections meant for others.)"""
    return (f"dgram,local.type=unix,local.path={folder / 'sink'},"
            f"remote.type=unix,remote.path={folder / 'nowhere'}")


def network_address(number):
    return f"10.77.0.{number}"


def bar_file(folder, bar):
    return folder / f"bar{bar}"


def bar_memory(options, folder, name):
    """The object behind device NAME (bar0…), as arguments of object-add."""
    return {"qom-type": "memory-backend-file", "id": f"mem-{name}", "share": True,
            "mem-path": str(folder / name), "size": options.bar_size << 20}


def slots(options):
    """(id, device) of each device that sits in a PCIe slot of its own."""
    for bar in range(options.bars):
        yield f"bar{bar}", f"ivshmem-plain,memdev=mem-bar{bar}"
    if options.nvme:
        yield "nvme0", "nvme,serial=peerlane0,drive=disk-nvme0"
    if options.edu:
        # edu refuses addresses above 28 bits unless told otherwise.
        yield "edu0", "edu,dma_mask=0xffffffffffffffff"


def slot_bus(options, index):
    return f"down{index}" if options.switch else f"port{index}"


def pci_devices(options):
    """The slots: root ports, or ports of one switch; both can hot-unplug."""
    if options.switch:
        yield "pcie-root-port,id=port0,chassis=1,slot=1,io-reserve=0"
        yield "x3130-upstream,id=up0,bus=port0"
    for index, (name, device) in enumerate(slots(options)):
        bus = slot_bus(options, index)
        if options.switch:
            yield f"xio3130-downstream,id={bus},bus=up0,chassis=2,slot={index}"
        else:
            yield f"pcie-root-port,id={bus},chassis=1,slot={index + 1},io-reserve=0"
        yield f"{device},id={name},bus={bus}"


def slot_device(options, name):
    """Arguments of device_add that bring the device back, or None."""
    for index, (slot, device) in enumerate(slots(options)):
        if slot == name:
            driver, _, rest = device.partition(",")
            arguments = dict(item.split("=", 1) for item in rest.split(","))
            if "dma_mask" in arguments:
                arguments["dma_mask"] = int(arguments["dma_mask"], 0)
            return {"driver": driver, "id": name, "bus": slot_bus(options, index), **arguments}
    return None


def image(kernel):
    """The unpacked kernel, where QEMU can enter it directly: unpacking takes
    seconds under emulation."""
    plain, config = kernel / "vmlinux", kernel / "config"
    if plain.exists() and config.exists() and "\nCONFIG_PVH=y\n" in config.read_text():
        return plain
    return kernel / "vmlinuz"


def serial(folder, name):
    return ["-chardev", f"file,id={name},path={folder / name}", "-serial", f"chardev:{name}"]


def network(options, number, hub):
    if options.nodes == 1:
        backend = f"{sink(hub)},id=net0"
    else:
        backend = f"stream,id=net0,server=off,addr.type=unix,addr.path={hub / f'port{number}'}"
    mac = f"52:54:00:77:00:{number:02x}"
    return ["-netdev", backend,
            "-device", f"virtio-net-pci,id=nic0,netdev=net0,mac={mac},romfile="]


def hub_command(nodes, folder):
    """Joins the nodes' links.  A QEMU without a machine is a hub in C that is
    there already, and outlives each of the nodes."""
    command = ["qemu-system-x86_64", "-machine", "none", "-nodefaults", "-display", "none",
               "-monitor", "none", "-serial", "none",
               "-netdev", f"{sink(folder)},id=sink", "-netdev", "hubport,id=hub0,hubid=0,netdev=sink"]
    for number in range(1, nodes + 1):
        command += [
            "-netdev", f"stream,id=port{number},server=on,addr.type=unix,"
                       f"addr.path={folder / f'port{number}'}",
            "-netdev", f"hubport,id=hub{number},hubid=0,netdev=port{number}"]
    return command


def command(options, number, folder, kernel, initrd, hub):
    machine = "q35,kernel-irqchip=split" if options.iommu and options.accel == "kvm" else "q35"
    accel = options.accel
    if accel == "tcg":
        accel += ",thread=multi"
    append = COMMAND_LINE
    if options.tsc_khz:
        append += f" tsc_early_khz={options.tsc_khz}"
    if options.iommu:
        append += " intel_iommu=on iommu=nopt"
    append += "".join(" " + text for text in options.cmdline)
    line = [
        "qemu-system-x86_64", "-name", f"node{number}", "-machine", machine,
        # Five-level page tables only make the emulation slower.
        "-accel", accel, "-cpu", "max,la57=off" if options.accel == "tcg" else "host",
        "-smp", str(options.cpus), "-m", str(options.memory),
        "-nodefaults", "-no-user-config", "-display", "none", "-vga", "none",
        "-monitor", "none", "-no-reboot",
        "-kernel", str(image(kernel)), "-initrd", str(initrd), "-append", append,
        *serial(folder, "console"), *serial(folder, "output"), *serial(folder, "control"),
    ]
    if options.interactive:
        line += ["-chardev", f"socket,id=shell,path={folder / 'shell'},server=on,wait=off",
                 "-serial", "chardev:shell"]
    # Two: one is ours, one is for the user's hook.
    for name in ("qmp", "qmp-hook"):
        line += ["-qmp", f"unix:{folder / name},server=on,wait=off"]
    if options.iommu:
        line += ["-device", "intel-iommu,intremap=off,device-iotlb=on"]
    line += ["-device", "virtio-rng-pci"]
    shares = (("host", "path=/,readonly=on,security_model=none,multidevs=remap"),
              ("rig", f"path={folder / 'in'},readonly=on,security_model=none"),
              ("out", f"path={folder / 'out'},security_model=mapped-file"))
    for tag, share in shares:
        line += ["-fsdev", f"local,id={tag},{share}",
                 "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
    for bar in range(options.bars):
        line += ["-object", json.dumps(bar_memory(options, folder, f"bar{bar}"))]
    if options.nvme:
        line += ["-drive", f"file={folder / 'nvme0'},format=raw,if=none,id=disk-nvme0"]
    line += network(options, number, hub)
    for device in pci_devices(options):
        line += ["-device", device]
    return line
