# SPDX-License-Identifier: GPL-2.0
"""QEMU's control protocol, as much of it as the rig needs."""

import json
import socket
import time


class QmpError(Exception):
    pass


class Qmp:
    """One connection; every wait has a bound."""

    def __init__(self, path, bound=30):
        self.deadline = time.monotonic() + bound
        self.events = []
        self.buffer = b""
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.settimeout(bound)
            self.socket.connect(str(path))
            self.receive()
            self.execute("qmp_capabilities")
        except OSError as error:
            self.socket.close()
            raise QmpError(f"QEMU does not answer: {error}") from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def receive(self):
        while b"\n" not in self.buffer:
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise QmpError("no answer from QEMU in time")
            self.socket.settimeout(left)
            try:
                data = self.socket.recv(65536)
            except TimeoutError as error:
                raise QmpError("no answer from QEMU in time") from error
            if not data:
                raise QmpError("QEMU has gone")
            self.buffer += data
        line, _, self.buffer = self.buffer.partition(b"\n")
        return json.loads(line)

    def execute(self, command, /, **arguments):
        self.socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        while True:
            message = self.receive()
            if "event" in message:
                self.events.append(message)
            elif "error" in message:
                raise QmpError(message["error"]["desc"])
            else:
                return message["return"]

    def wait_event(self, event_name, /, **data):
        while True:
            for event in self.events:
                if event["event"] == event_name and data.items() <= event.get("data", {}).items():
                    return event
            message = self.receive()
            if "event" in message:
                self.events.append(message)
