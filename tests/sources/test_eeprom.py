"""A module's memory: which ranges are asked for, how a request is written, and what a driver may refuse."""

import errno
import os

import pytest

from fabricdoctor.sources import eeprom, live, netlink
from fabricdoctor.sources.netlink import attribute

OSFP, QSFP28, SFP = 0x19, 0x11, 0x03


class Driver:
    """A driver whose module has this lower memory; `refused` are pages that end with an error."""

    def __init__(self, identifier, flags=0, refused=None):
        self.lower = bytes([identifier, 0x50, flags]) + bytes(125)
        self.refused = refused or {}
        self.asked = []

    def __call__(self, _, page, offset, length):
        self.asked.append((page, offset, length))
        if page in self.refused:
            raise OSError(self.refused[page], os.strerror(self.refused[page]))
        return self.lower if offset == 0 else bytes([page] * length)


def test_what_is_read_of_a_cmis_module():
    found = eeprom.module("rail0", Driver(OSFP))
    assert {name: len(text) // 2 for name, text in found.items()} == {
        "lower": 128, "upper": 16, "monitors": 2, "thresholds": 72, "lanes": 74,
    }  # fmt: skip
    assert found["lanes"].startswith("1111")


def test_what_is_read_of_a_qsfp():
    found = eeprom.module("rail0", Driver(QSFP28))
    assert {name: len(text) // 2 for name, text in found.items()} == {"lower": 128, "upper": 68, "thresholds": 72}
    assert found["thresholds"].startswith("0303")


@pytest.mark.parametrize(("identifier", "serial"), [(OSFP, range(166, 182)), (QSFP28, range(196, 212))])
def test_the_serial_number_is_not_read(identifier, serial):
    driver = Driver(identifier)
    eeprom.module("rail0", driver)
    asked = {byte for page, offset, length in driver.asked if page == 0 for byte in range(offset, offset + length)}
    assert not asked & set(serial)


@pytest.mark.parametrize("ranges", [eeprom._SFF_RANGES, eeprom._CMIS_RANGES])
def test_no_question_is_longer_than_the_kernel_allows_or_crosses_the_middle_of_a_page(ranges):
    for _, offset, length in ranges.values():
        assert 0 < length <= 128
        assert 128 <= offset < offset + length <= 256


@pytest.mark.parametrize(("identifier", "flat"), [(OSFP, 0x80), (QSFP28, 0x04)])
def test_a_module_without_pages_is_asked_for_none(identifier, flat):
    driver = Driver(identifier, flat)
    assert set(eeprom.module("rail0", driver)) == {"lower", "upper"}
    assert {page for page, _, _ in driver.asked} == {0}


def test_another_kind_of_module_is_only_named():
    assert set(eeprom.module("rail0", Driver(SFP))) == {"lower"}


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EIO, errno.EOPNOTSUPP])
def test_a_page_that_is_refused_is_left_out(number):
    assert set(eeprom.module("rail0", Driver(QSFP28, refused={3: number}))) == {"lower", "upper"}


def test_no_permission_is_not_an_absent_page():
    with pytest.raises(PermissionError):
        eeprom.module("rail0", Driver(QSFP28, refused={0: errno.EPERM}))


@pytest.mark.parametrize("got", [b"", bytes(64)])
def test_half_a_memory_is_none(got):
    with pytest.raises(ValueError, match="instead of 128"):
        eeprom.module("rail0", lambda *_: got)


def test_a_request_as_the_kernel_reads_it():
    found = netlink.nest(eeprom.request("rail0", 3, 128, 72))
    assert netlink.nest(found[1]) == {2: b"rail0\0"}
    assert [netlink.number(found[kind]) for kind in (2, 3, 4, 5, 6)] == [128, 72, 3, 0, 0x50]


def test_an_answer_is_the_bytes_in_it():
    assert eeprom.parse(attribute(1, b"") + attribute(7, b"\x11\x22")) == b"\x11\x22"
    with pytest.raises(OSError, match="not supported"):
        eeprom.parse(attribute(1, b""))


def test_this_machine_has_no_module_on_its_loopback():
    with pytest.raises(OSError) as refused:
        eeprom.module("lo")
    assert refused.value.errno in (errno.EPERM, errno.EOPNOTSUPP, errno.EPROTONOSUPPORT)


def test_the_reading_process_finds_this_source():
    answer = live._reading("")(("ethtool.module", "lo"))
    assert answer.get("why") in ("denied", "unsupported")
    assert "no source" not in answer["detail"]
