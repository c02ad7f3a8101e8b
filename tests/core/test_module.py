"""A module's memory decoded. Each is constructed from the public layouts, with values such modules have."""

import pytest
from nodes.optics import module

import fabricdoctor.facts.module as decoder
from fabricdoctor.facts.module import Light, Module, decode
from fabricdoctor.sources import eeprom
from fabricdoctor.unknown import Unknown


def memory(length, first=0, **at):
    """Return `length` bytes as text: at["at22"] are the bytes from address 22 on."""
    data = bytearray(length)
    for name, value in at.items():
        start = int(name.removeprefix("at")) - first
        data[start : start + len(value)] = value
    return data.hex()


def words(*values):
    return b"".join((value & 0xFFFF).to_bytes(2, "big") for value in values)


def qsfp28(*, celsius=30, light=(8317, 8317, 8317, 8317), technology=0x00, compliance=0x02, infiniband=0, pages=True):
    """A 100G SR4 module: high alarm 75 °C, high warning 70 °C; low warning -9.9 dBm received, -9.3 dBm sent."""
    found = {
        "lower": memory(
            128, at0=b"\x11\x07", at22=words(celsius * 256), at34=words(*light), at50=words(8000, 8000, 8000, 8000)
        ),
        "upper": memory(
            68, 128, at128=b"\x11", at147=bytes([technology]), at164=bytes([infiniband]), at192=bytes([compliance])
        ),
        "thresholds": memory(
            72, 128, at128=words(75 * 256, -5 * 256, 70 * 256, 0),
            at176=words(34674, 724, 17378, 1023), at192=words(34674, 871, 17378, 1175),
        ),
    }  # fmt: skip
    return found if pages else {name: found[name] for name in ("lower", "upper")}


def read(answer):
    found = decode(answer, "ethtool.module rail0")
    assert isinstance(found, Module)
    return found


def test_a_qsfp28():
    found = read(qsfp28())
    assert (found.kind, found.gbps, found.celsius, found.hot_c, found.weak) == ("QSFP28", 100.0, 30.0, 70.0, ())
    assert found.received.lanes == pytest.approx([-0.8] * 4, abs=0.01)
    assert found.received.low == pytest.approx(-9.9, abs=0.01)
    assert found.sent.low == pytest.approx(-9.3, abs=0.01)


def test_a_temperature_below_zero():
    assert read(qsfp28(celsius=-5)).celsius == -5.0


def test_weak_lanes_are_named():
    ((way, lane, power, low),) = read(qsfp28(light=(8317, 8317, 900, 8317))).weak
    assert (way, lane) == ("received", 3)
    assert (power, low) == (pytest.approx(-10.46, abs=0.01), pytest.approx(-9.9, abs=0.01))


@pytest.mark.parametrize("raw", [0, 1, 10, 0xFFFF])
def test_a_dark_lane_or_one_without_a_reading_is_not_weak(raw):
    assert read(qsfp28(light=(raw, 8317, 8317, 8317))).weak == ()


def test_no_light_at_all_is_not_known():
    found = read(qsfp28(light=(0, 0, 0, 0)))
    assert found.received.why == "not-applicable"
    assert found.weak == ()  # of what is sent


@pytest.mark.parametrize("limits", [(0, 0, 0, 0), (0xFFFF,) * 4, (0x0200, 0x0300, 0x0100, 0x0400)])
def test_limits_that_are_none(limits):
    answer = qsfp28(light=(100, 100, 100, 100), celsius=80)
    answer["thresholds"] = memory(72, 128, at128=words(*limits), at176=words(*limits), at192=words(*limits))
    found = read(answer)
    assert {found.hot_c.why, found.received.why, found.sent.why, found.weak.why} == {"not-applicable"}


def test_without_pages_there_are_no_limits():
    found = read(qsfp28(celsius=80, pages=False))
    assert found.celsius == 80.0
    assert found.hot_c.why == found.weak.why == "not-applicable"


@pytest.mark.parametrize("technology", [0xA0, 0xB0])
def test_a_passive_cable_measures_nothing(technology):
    found = read(qsfp28(technology=technology, compliance=0x0B, celsius=0))
    assert found.gbps == 100.0
    assert {v.why for v in (found.celsius, found.hot_c, found.received, found.sent, found.weak)} == {"not-applicable"}


@pytest.mark.parametrize("raw", [b"\x00\x00", b"\xff\xff"])
def test_no_temperature(raw):
    answer = qsfp28()
    answer["lower"] = answer["lower"][:44] + raw.hex() + answer["lower"][48:]
    assert read(answer).celsius.why == "not-applicable"


def test_an_impossible_temperature():
    assert read(qsfp28(celsius=127)).celsius.why == "unparsable"


def test_a_module_that_starts_up_measures_nothing_yet():
    answer = qsfp28()
    answer["lower"] = answer["lower"][:4] + "01" + answer["lower"][6:]
    assert read(answer).celsius.why == "not-applicable"


@pytest.mark.parametrize(
    ("compliance", "infiniband", "gbps"),
    [(0x0B, 0x10, 100.0), (0x40, 0, 200.0), (0x0B, 0x20, 200.0), (0, 0x20, 200.0), (0x30, 0, 200.0), (0x10, 0, 40.0)],
)
def test_what_a_cable_is_made_for(compliance, infiniband, gbps):
    assert read(qsfp28(compliance=compliance, infiniband=infiniband)).gbps == gbps


@pytest.mark.parametrize(("compliance", "infiniband"), [(0, 0), (0x7F, 0), (0x7F, 0x10), (0x0B, 0x80)])
def test_what_is_not_known_is_not_guessed(compliance, infiniband):
    assert isinstance(read(qsfp28(compliance=compliance, infiniband=infiniband)).gbps, Unknown)


def test_an_osfp_module():
    found = read(module(celsius=71.5, received=0.2))
    assert (found.kind, found.gbps, found.celsius, found.hot_c) == ("OSFP", 400.0, 71.5, 70.0)
    assert found.received == Light((*[pytest.approx(-6.99, abs=0.01)] * 4, *[None] * 4), pytest.approx(-6.02, abs=0.01))
    assert [(way, lane) for way, lane, _, _ in found.weak] == [("received", lane) for lane in (1, 2, 3, 4)]


def changed(answer, name, at, value):
    text = answer[name]
    return answer | {name: text[: 2 * at] + value + text[2 * at + len(value) :]}


@pytest.mark.parametrize(
    ("at", "value"),
    [(85, "03"), (3, "03"), (1, "22")],
    ids=["passive copper", "in low power", "a revision with other pages"],
)
def test_an_osfp_that_measures_nothing(at, value):
    found = read(changed(module(celsius=71.5, received=0.2), "lower", at, value))
    assert {v.why for v in (found.celsius, found.received, found.sent, found.weak)} == {"not-applicable"}


def test_monitors_that_an_osfp_says_it_lacks():
    found = read(changed(module(celsius=71.5, received=0.2), "monitors", 0, "0000"))
    assert {v.why for v in (found.celsius, found.received, found.sent)} == {"not-applicable"}
    found = read(changed(module(received=0.2), "monitors", 0, "0102"))
    assert found.received.why == "not-applicable"
    assert found.weak == ()


@pytest.mark.parametrize(
    ("applications", "gbps"),
    [("4f1c44014d1b2205", 400.0), ("32004400", 400.0), ("31008800", 400.0), ("51561101", 800.0), ("1c004401", 200.0)],
)
def test_what_an_osfp_is_made_for(applications, gbps):
    assert read(changed(module(), "lower", 86, applications + "ff")).gbps == gbps


@pytest.mark.parametrize("applications", ["", "7e1c44014f1c4401", "00000000"])
def test_applications_that_are_not_known(applications):
    assert isinstance(read(changed(module(), "lower", 86, applications + "ff")).gbps, Unknown)


@pytest.mark.parametrize("name", ["lower", "upper", "thresholds", "lanes", "monitors"])
@pytest.mark.parametrize("value", ["", "18446744073709551615", "N/A", None])
def test_a_damaged_range_is_no_module(name, value):
    with pytest.raises((ValueError, TypeError, LookupError)):
        decode(module() | {name: value}, "")


def test_other_modules_are_not_read():
    found = decode({"lower": "03" + "00" * 127}, "ethtool.module rail0")
    assert (found.why, found.detail) == ("not-applicable", "modules of kind 0x03 are not read")


def test_reader_and_decoder_mean_the_same_ranges():
    def lengths(ranges):
        return {name: (offset, length) for name, (_, offset, length) in ranges.items()}

    assert lengths(eeprom._SFF_RANGES) | {"lower": (0, 128)} == decoder._SFF_RANGES
    assert lengths(eeprom._CMIS_RANGES) | {"lower": (0, 128)} == decoder._CMIS_RANGES
    assert {*decoder._SFF_8636} == eeprom._SFF_8636
    assert {*decoder._CMIS} == eeprom._CMIS
