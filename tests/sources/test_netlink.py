"""The shared netlink reader: messages and attributes made by hand."""

import errno
import struct

import pytest

from fabricdoctor.sources import netlink

MULTI, INTERRUPTED = 2, 0x10
ERROR, DONE = 2, 3


def message(kind, body=b"", flags=0, sequence=1):
    packed = struct.pack("=IHHII", 16 + len(body), kind, flags, sequence, 0) + body
    return packed + bytes(-len(packed) % 4)


def test_attributes_are_padded_and_lose_the_nested_flag():
    data = netlink.attribute(1, b"ab\0") + netlink.attribute(2 | netlink.NESTED, b"")
    assert len(data) == 12
    assert list(netlink.attributes(data)) == [(1, b"ab\0"), (2, b"")]


@pytest.mark.parametrize("data", [b"\1", b"\3\0\1\0", b"\5\0\1\0", b"\0\0\0\0"])
def test_garbled_attributes_are_refused(data):
    with pytest.raises(ValueError):
        netlink.nest(data)


def test_numbers_have_the_width_of_their_attribute():
    assert [netlink.number(struct.pack("=" + width, 7)) for width in "BHIQ"] == [7, 7, 7, 7]
    with pytest.raises(ValueError):
        netlink.number(b"123")


def test_a_single_answer_ends_with_itself():
    conversation = netlink.Conversation(1)
    assert conversation.feed(message(78, b"abc"))
    assert conversation.answers == [(78, b"abc")]


def test_a_dump_ends_with_done_in_a_later_datagram():
    conversation = netlink.Conversation(1)
    assert not conversation.feed(message(20, b"a", MULTI) + message(20, b"b", MULTI))
    assert not conversation.feed(message(20, b"c", MULTI))
    assert conversation.feed(message(DONE, struct.pack("=i", 0), MULTI))
    assert [body for _, body in conversation.answers] == [b"a", b"b", b"c"]


def test_an_answer_to_another_question_is_ignored():
    conversation = netlink.Conversation(1)
    assert not conversation.feed(message(78, b"late", sequence=9))
    assert conversation.answers == []


def test_an_interrupted_dump_is_noticed():
    conversation = netlink.Conversation(1)
    conversation.feed(message(20, b"a", MULTI) + message(DONE, struct.pack("=i", 0), MULTI | INTERRUPTED))
    assert conversation.interrupted


@pytest.mark.parametrize("kind", [ERROR, DONE])
def test_errors_have_their_errno(kind):
    with pytest.raises(OSError) as caught:
        netlink.Conversation(1).feed(message(kind, struct.pack("=i", -errno.ENODEV)))
    assert caught.value.errno == errno.ENODEV


def test_acknowledgement_ends_without_an_answer():
    conversation = netlink.Conversation(1)
    assert conversation.feed(message(ERROR, struct.pack("=i", 0)))
    assert conversation.answers == []


def test_truncation_is_a_value_error():
    whole = message(20, b"abcd", MULTI) + message(DONE, struct.pack("=i", 0), MULTI)
    for end in range(1, len(whole)):
        try:
            netlink.Conversation(1).feed(whole[:end])
        except ValueError:
            continue
        assert end == 20  # exactly the first message


@pytest.mark.parametrize("name", ["", "a" * 16, "a\0b"])
def test_impossible_interface_names_are_no_device(name):
    with pytest.raises(OSError) as caught:
        netlink.interface_name(name)
    assert caught.value.errno == errno.ENODEV


def test_a_missing_family_is_not_supported():
    with pytest.raises(OSError) as caught:
        netlink.generic("no_such_family", 1, b"")
    # Where generic netlink itself is missing the socket says so.
    assert caught.value.errno in (errno.EOPNOTSUPP, errno.EPROTONOSUPPORT)
