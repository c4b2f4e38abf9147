# SPDX-License-Identifier: GPL-2.0
"""The small file system a node starts from: busybox, the modules that reach
the host's root, and a script that moves there."""

import lzma
import pathlib
import subprocess

# By when they are loaded; in this order, and each brings what it depends on.
WANTED = {
    "base": ("virtio_pci", "9pnet_virtio", "9p", "overlay"),
    "net": ("virtio_net",),
    "nvme": ("nvme",),
    "rdma": ("crc32_generic", "rdma_rxe", "ib_uverbs", "rdma_ucm"),
}
# Later kernels do without: rxe calls the library, not the crypto layer.
OPTIONAL = ("crc32_generic",)
APPLETS = ("sh", "cp", "hostname", "insmod", "ip", "ln", "mkdir", "mount", "poweroff", "stty",
           "switch_root")


def find_busybox():
    for path in ("/bin/busybox", "/usr/bin/busybox"):
        if pathlib.Path(path).exists():
            return pathlib.Path(path)
    raise FileNotFoundError("busybox is missing: install busybox-static")


def is_builtin(kernel, release, name):
    listed = kernel / "lib/modules" / release / "modules.builtin"
    wanted = name.replace("-", "_")
    return listed.exists() and any(
        pathlib.PurePath(line).stem.replace("-", "_") == wanted
        for line in listed.read_text().split())


def module_files(kernel, release, names):
    """Paths of modules and what they need, in load order; none if built in."""
    files = []
    for name in names:
        answer = subprocess.run(
            ["modprobe", "-d", str(kernel), "-S", release, "--show-depends", name],
            capture_output=True, text=True, check=False)
        if answer.returncode and name not in OPTIONAL and not is_builtin(kernel, release, name):
            raise RuntimeError(f"{kernel}: the kernel has no {name}: {answer.stderr.strip()}")
        for line in answer.stdout.splitlines():
            verb, _, rest = line.partition(" ")
            path = pathlib.Path(rest.split()[0]) if rest.split() else None
            if verb == "insmod" and path not in files:
                files.append(path)
    return files


def load(path):
    """The module itself; the busybox in there cannot unpack it."""
    data = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(data)
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=True).stdout
    return data


class Cpio:
    """The 'newc' archive format, which the kernel unpacks."""

    def __init__(self):
        self.parts = []
        self.inode = 1

    def add(self, name, mode, data=b""):
        name = name.encode() + b"\0"
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        self.inode += 1
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
        self.parts += [head, b"\0" * (-len(head) % 4), data, b"\0" * (-len(data) % 4)]

    def folder(self, name):
        self.add(name, 0o040755)

    def file(self, name, data, mode=0o100755):
        self.add(name, mode, data)

    def link(self, name, target):
        self.add(name, 0o120777, target.encode())

    def data(self):
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


def build(kernel, release, rig, groups):
    """The archive for a node of this kernel; rig is the folder of the rig,
    groups those of WANTED that the node loads."""
    archive = Cpio()
    for folder in ("bin", "dev", "proc", "sys", "modules"):
        archive.folder(folder)
    archive.file("bin/busybox", find_busybox().read_bytes())
    for applet in APPLETS:
        archive.link(f"bin/{applet}", "busybox")
    done = []
    for group, names in WANTED.items():
        if group not in groups:
            continue
        archive.folder(f"modules/{group}")
        for path in module_files(kernel, release, names):
            if path not in done:
                done.append(path)
                stem = path.name.split(".ko")[0]
                archive.file(f"modules/{group}/{len(done):02}-{stem}.ko", load(path))
    archive.file("init", (rig / "guest/early-init").read_bytes())
    return archive.data()
