"""Addresses: dumps built by hand, and this machine's loopback."""

import socket
import struct

import pytest

from fabricdoctor.sources import address
from fabricdoctor.sources.netlink import attribute

V4, V6 = socket.AF_INET, socket.AF_INET6


def link(index, name):
    return 16, struct.pack("=BxHiII", 0, 1, index, 0, 0) + attribute(3, name.encode() + b"\0")


def assigned(family, index, prefix, *values):
    packed = b"".join(attribute(kind, socket.inet_pton(family, text)) for kind, text in values)
    return 20, struct.pack("=BBBBI", family, prefix, 0, 0, index) + packed


LINKS = [link(1, "lo"), link(7, "rail0"), link(8, "rail1")]
FOUND = [
    assigned(V4, 7, 24, (1, "10.1.0.11"), (2, "10.1.0.11")),
    assigned(V6, 7, 64, (1, "fe80::1")),
    assigned(V4, 8, 32, (1, "10.9.9.9"), (2, "10.1.1.11")),
]


def test_addresses_by_interface():
    assert address.parse(LINKS, FOUND) == {"lo": [], "rail0": ["10.1.0.11/24", "fe80::1/64"], "rail1": ["10.1.1.11/32"]}


def test_other_families_and_nameless_interfaces_are_left_out():
    other = (20, struct.pack("=BBBBI", 45, 0, 0, 0, 7) + attribute(2, b"\x08"))
    assert address.parse(LINKS[:1], [other, FOUND[0]]) == {"lo": []}


def test_an_address_of_the_wrong_size_is_refused():
    with pytest.raises(ValueError):
        address.parse(LINKS, [(20, struct.pack("=BBBBI", V4, 24, 0, 0, 7) + attribute(2, b"\x0a\x01"))])


def test_truncation_is_a_value_error():
    for kind, body in FOUND:
        for end in range(len(body)):
            try:
                found = address.parse(LINKS, [(kind, body[:end])])
            except ValueError:
                continue
            assert sum(map(len, found.values())) == 1


def test_a_truncated_link_keeps_its_name_or_is_refused():
    kind, body = LINKS[1]
    for end in range(len(body)):
        try:
            found = address.parse([(kind, body[:end])], [])
        except ValueError:
            continue
        assert found == {"rail0": []}


def test_loopback_is_there():
    found = address.addresses("")["lo"]
    # In a network namespace of its own, loopback is down and has no address.
    assert "127.0.0.1/8" in found or found == []
