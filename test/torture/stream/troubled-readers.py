"""Subscribers with troubles: slow ones, silent ones, and ones behind a dead link.

Arguments: the port, and groups as `kind:address:count`. Kinds:
  slow     reads 100 bytes a second, and connects again after some hundred bytes or when it is cut
  backfill reads 20,000 bytes a second from the beginning, and never connects again
  silent   never reads
  dead     is live, and then its link is dead: its kernel drops every packet that comes, acknowledges nothing, and
           sends nothing
  stalled  the same, in the middle of a long history
Lines on standard input: `cut` kills the links, `end` prints what the slow ones and the backfills read, as
JSON, and ends.
"""

import ctypes
import json
import select
import socket
import struct
import sys

SO_ATTACH_FILTER = 26
# One instruction of a packet filter: accept no byte. It needs no privilege.
DROP_ALL = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
FILTER = struct.pack("HP", 1, ctypes.addressof(DROP_ALL))
# Small segments and buffers, so that few bytes of history fill them.
SEGMENT_BYTES = 536
RECEIVE_BYTES = 2048
READ_BYTES = {"slow": 10, "backfill": 2000}
READ_EVERY_S = 0.1
SLOW_BYTES_OF_CONNECTION = 700


class Subscriber:
    def __init__(self, port, kind, address, after):
        self.port, self.kind, self.address = port, kind, address
        self.visits = []
        self.open(after)

    def open(self, after):
        self.after = after
        self.text = ""
        self.socket = socket.socket()
        if self.kind != "dead":
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT_BYTES)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        self.socket.bind((self.address, 0))
        self.socket.connect(("127.0.0.1", self.port))
        query = "" if after is None else f"?after={after}"
        self.socket.sendall(f"GET /api/v1/stream{query} HTTP/1.0\r\nAccept: application/x-ndjson\r\n\r\n".encode())

    def read_some(self):
        try:
            bytes_ = self.socket.recv(READ_BYTES[self.kind], socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            bytes_ = b""
        self.text += bytes_.decode("latin1")
        if self.kind == "backfill" or (bytes_ and len(self.text) < SLOW_BYTES_OF_CONNECTION):
            return
        self.keep()
        self.socket.close()
        seqs = [json.loads(line)["seq"] for line in self.lines() if line.startswith('{"seq":')]
        self.open(seqs[-1] if seqs else self.after)

    def lines(self):
        head, _, body = self.text.partition("\r\n\r\n")
        return body.split("\n")[:-1] if " 200 " in head[:16] else []

    def keep(self):
        self.visits.append({"after": self.after, "lines": self.lines()})


def main():
    port = int(sys.argv[1])
    subscribers = []
    for group in sys.argv[2:]:
        kind, address, count = group.split(":")
        for _ in range(int(count)):
            subscribers.append(Subscriber(port, kind, address, None if kind == "dead" else 0))
    for one in subscribers:
        # The first bytes show that the stream has begun.
        if one.kind != "slow":
            one.text = one.socket.recv(200).decode("latin1")
    print("open", len(subscribers), flush=True)
    slow = [one for one in subscribers if one.kind in READ_BYTES]
    while True:
        if select.select([sys.stdin], [], [], READ_EVERY_S)[0]:
            order = sys.stdin.readline().strip()
            if order == "cut":
                links = [one for one in subscribers if one.kind in ("dead", "stalled")]
                for one in links:
                    one.socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, FILTER)
                print("cut", len(links), flush=True)
            else:
                for one in slow:
                    one.keep()
                print(json.dumps([one.visits for one in slow]), flush=True)
                return
        for one in slow:
            one.read_some()


main()
