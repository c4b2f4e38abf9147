#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""attach.py SOCKET: joins this terminal (or pipe) and a node's serial port.
Ctrl-] leaves."""

import os
import select
import socket
import sys
import termios
import tty

LEAVE = b"\x1d"


def copy(port):
    sources = [port, 0]
    while True:
        for source in select.select(sources, [], [])[0]:
            if source is port:
                data = port.recv(4096)
                if not data:
                    return
                os.write(1, data)
                continue
            data = os.read(0, 4096)
            if LEAVE in data and os.isatty(0):
                return
            if not data:
                # End of a pipe: what it asked for may still be answered.
                sources.remove(0)
            port.sendall(data.replace(b"\n", b"\r"))


def main(path):
    port = socket.socket(socket.AF_UNIX)
    port.connect(path)
    is_terminal = os.isatty(0)
    before = termios.tcgetattr(0) if is_terminal else None
    try:
        if is_terminal:
            tty.setraw(0)
        copy(port)
    finally:
        if is_terminal:
            termios.tcsetattr(0, termios.TCSADRAIN, before)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
