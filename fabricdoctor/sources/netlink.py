"""Ask the kernel over netlink: one question, one socket, one list of answers.

Layouts: include/uapi/linux/netlink.h and include/uapi/linux/genetlink.h. Every word is in host byte order.

A question is handled inside send(), so a driver that hangs while it holds the kernel's configuration lock blocks the
caller there, where no socket timeout reaches. Whoever cannot wait asks from a process of its own.
"""

from __future__ import annotations

# The socket module spends 5 ms building enumerations this reader never uses; what it wraps loads in a quarter of one.
import _socket
import errno
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ROUTE = 0
GENERIC = 16
REQUEST = 0x001
DUMP = 0x300
NESTED = 0x8000

_ANSWER_SECONDS = 2.0
# The kernel never puts more than 32 KiB into one dump datagram; MSG_TRUNC tells when a single answer is larger.
_LARGEST_DATAGRAM = 1 << 17
_DUMP_TRIES = 4

_NOOP = 1
_ERROR = 2
_DONE = 3
_MULTI = 0x002
_INTERRUPTED = 0x010
# The two high bits of an attribute's type are flags (NLA_F_NESTED, NLA_F_NET_BYTEORDER), set by some senders only.
_TYPE_MASK = 0x3FFF
_NAME_LENGTH = 16

_HEADER = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")

_families: dict[str, int] = {}


class Message:
    """One netlink message without its header."""

    __slots__ = ("body", "flags", "sequence", "type")

    def __init__(self, kind: int, flags: int, sequence: int, body: bytes) -> None:
        """Keep the three header fields that matter."""
        self.type = kind
        self.flags = flags
        self.sequence = sequence
        self.body = body


def attribute(kind: int, value: bytes) -> bytes:
    length = _ATTRIBUTE.size + len(value)
    return _ATTRIBUTE.pack(length, kind) + value + bytes(-length % 4)


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (type, value) in order, because some tables are lists and repeat a type."""
    offset = 0
    while offset < len(data):
        if len(data) - offset < _ATTRIBUTE.size:
            raise ValueError("netlink attribute cut off in its header")
        length, kind = _ATTRIBUTE.unpack_from(data, offset)
        if not _ATTRIBUTE.size <= length <= len(data) - offset:
            raise ValueError(f"netlink attribute {kind & _TYPE_MASK} has an impossible length")
        yield kind & _TYPE_MASK, data[offset + _ATTRIBUTE.size : offset + length]
        offset += (length + 3) & ~3


def nest(data: bytes) -> dict[int, bytes]:
    return dict(attributes(data))


def number(value: bytes) -> int:
    """Read an unsigned integer whose width the attribute gives."""
    if len(value) not in (1, 2, 4, 8):
        raise ValueError(f"netlink integer of {len(value)} bytes")
    return int(struct.unpack("=" + "_BH_I___Q"[len(value)], value)[0])


def text(value: bytes) -> str:
    return value.split(b"\0", 1)[0].decode("utf-8", "replace")


def interface_name(ifname: str) -> bytes:
    """Refuse what no interface can be called, before a driver interface cuts it to another one's name."""
    name = ifname.encode("utf-8", "surrogateescape")
    if not 0 < len(name) < _NAME_LENGTH or b"\0" in name:
        raise OSError(errno.ENODEV, os.strerror(errno.ENODEV), ifname)
    return name + b"\0"


def messages(datagram: bytes) -> Iterator[Message]:
    offset = 0
    while offset < len(datagram):
        if len(datagram) - offset < _HEADER.size:
            raise ValueError("netlink message cut off in its header")
        length, kind, flags, sequence, _ = _HEADER.unpack_from(datagram, offset)
        if not _HEADER.size <= length <= len(datagram) - offset:
            raise ValueError("netlink message has an impossible length")
        yield Message(kind, flags, sequence, datagram[offset + _HEADER.size : offset + length])
        offset += (length + 3) & ~3


class Conversation:
    """What has been answered to one question so far; fed datagrams, it knows when the answer is complete."""

    __slots__ = ("answers", "interrupted", "sequence")

    def __init__(self, sequence: int) -> None:
        """Wait for answers that carry this sequence number."""
        self.sequence = sequence
        self.answers: list[tuple[int, bytes]] = []
        self.interrupted = False

    def feed(self, datagram: bytes) -> bool:
        """Take one datagram in; say whether it ended the answer."""
        return any(self._take(message) for message in messages(datagram) if message.sequence == self.sequence)

    def _take(self, message: Message) -> bool:
        self.interrupted = self.interrupted or bool(message.flags & _INTERRUPTED)
        if message.type == _NOOP:
            return False
        if message.type in (_ERROR, _DONE):
            _raise_status(message)
            return True
        self.answers.append((message.type, message.body))
        return not message.flags & _MULTI


def _raise_status(message: Message) -> None:
    """Raise the errno of an error message, or of a dump that failed midway and says so in its last message."""
    if len(message.body) < struct.calcsize("=i"):
        if message.type == _ERROR:
            raise ValueError("netlink error message without its number")
        return
    status = struct.unpack_from("=i", message.body)[0]
    if status < 0:
        raise OSError(-status, os.strerror(-status))


def talk(protocol: int, kind: int, payload: bytes, flags: int = REQUEST) -> list[tuple[int, bytes]]:
    """Send one question; return (type, body) of every message in the answer, a dump again if the kernel asks for it."""
    for _ in range(_DUMP_TRIES):
        conversation = _ask(protocol, kind, payload, flags)
        if not conversation.interrupted:
            return conversation.answers
    raise InterruptedError(errno.EINTR, "what the kernel lists kept changing")


def _ask(protocol: int, kind: int, payload: bytes, flags: int) -> Conversation:
    conversation = Conversation(sequence=1)
    connection = _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW | _socket.SOCK_CLOEXEC, protocol)
    try:
        connection.settimeout(_ANSWER_SECONDS)
        connection.bind((0, 0))
        connection.send(_HEADER.pack(_HEADER.size + len(payload), kind, flags, conversation.sequence, 0) + payload)
        while not conversation.feed(_receive(connection)):
            pass
    finally:
        connection.close()
    return conversation


def _receive(connection: _socket.socket) -> bytes:
    """Take one datagram from the kernel; any process may send to the socket, only the kernel's port is 0."""
    while True:
        datagram, _, flags, sender = connection.recvmsg(_LARGEST_DATAGRAM)
        if sender[0] != 0:
            continue
        if flags & _socket.MSG_TRUNC or not datagram:
            raise ValueError("netlink datagram was cut off")
        return datagram


def generic(family: str, command: int, payload: bytes) -> bytes:
    """Ask a generic-netlink family for one object; return the answer's attributes."""
    header = struct.pack("=BBH", command, 1, 0)
    return only_generic(talk(GENERIC, _family(family), header + payload))


def generic_dump(family: str, command: int, payload: bytes) -> list[bytes]:
    """Ask a generic-netlink family for all its objects; return each one's attributes."""
    header = struct.pack("=BBH", command, 1, 0)
    answers = talk(GENERIC, _family(family), header + payload, REQUEST | DUMP)
    return [only_generic([answer]) for answer in answers]


def only_generic(answers: list[tuple[int, bytes]]) -> bytes:
    """Take the one answer there must be, without struct genlmsghdr."""
    if len(answers) != 1 or len(answers[0][1]) < struct.calcsize("=BBH"):
        raise ValueError("not one generic netlink answer")
    return answers[0][1][struct.calcsize("=BBH") :]


def _family(name: str) -> int:
    """Look a family's message type up; it stays the same while the kernel runs."""
    if name not in _families:
        _families[name] = _look_up_family(name)
    return _families[name]


def _look_up_family(name: str) -> int:
    controller, get_family, name_attribute, id_attribute = 16, 3, 2, 1
    question = struct.pack("=BBH", get_family, 1, 0) + attribute(name_attribute, name.encode() + b"\0")
    try:
        answers = talk(GENERIC, controller, question)
    except FileNotFoundError:
        # ENOENT would read as "no such interface"; what is missing is the kernel's support.
        raise OSError(errno.EOPNOTSUPP, f"this kernel has no netlink family {name}") from None
    found = nest(only_generic(answers))
    if id_attribute not in found:
        raise ValueError(f"netlink family {name} without a number")
    return number(found[id_attribute])
