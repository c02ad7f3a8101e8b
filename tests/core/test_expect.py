"""Configuration: each value with its origin, each error with file, line, key and what would be right."""

import re

import pytest

from fabricdoctor import expect
from fabricdoctor.expect import ConfigError, Expect
from fabricdoctor.expect.load import _RULES
from fabricdoctor.finding import Severity


def load(tmp_path, text, hostname="gpu017", profile=None):
    file = tmp_path / "site.toml"
    file.write_text(text)
    return expect.load(file, profile, hostname)


def test_profile_then_file_then_group_each_with_its_origin(tmp_path):
    config = load(
        tmp_path,
        'profile = "roce-lossless"\n[expect]\ndscp = 24\nrails = ["mlx5_[0-7]"]\n'
        '[expect.group."gpu[001-128]"]\nmtu = 2048\n[expect.group."cpu[1-9]"]\nmtu = 1024\n',
    )
    assert (config.expect.mtu, config.expect.dscp, config.expect.lossless_priorities) == (2048, 24, frozenset({3}))
    assert config.origin["mtu"].endswith("site.toml, line 6")
    assert config.origin["dscp"].endswith("site.toml, line 3")
    assert config.origin["trust"].startswith("profile roce-lossless: ")


def test_a_short_name_is_in_the_group_of_a_full_one(tmp_path):
    config = load(tmp_path, '[expect.group."gpu[001-128]"]\nmtu = 2048\n', "gpu017.cluster.example")
    assert config.expect.mtu == 2048


def test_without_anything_nothing_is_expected():
    assert expect.load(None, None, "x").expect == Expect()


def test_the_option_wins_over_the_files_profile(tmp_path):
    assert load(tmp_path, 'profile = "infiniband"', profile="roce-lossy").profile == "roce-lossy"


def test_checks_are_disabled_and_weighed(tmp_path):
    config = load(tmp_path, '[checks]\ndisable = ["link-flapped"]\n[checks.severity]\npfc-off = "warning"\n')
    assert config.disable == ("link-flapped",)
    assert config.severity == {"pfc-off": Severity.WARNING}


@pytest.mark.parametrize("name", expect.profiles())
def test_each_value_of_a_profile_has_its_source(name):
    config = expect.load(None, name, "x")
    assert config.origin
    assert all(len(origin.split(": ", 1)[1]) > 10 for origin in config.origin.values())


@pytest.mark.parametrize("name", expect.profiles())
def test_a_source_is_an_address_or_says_why_there_is_none(name):
    ours = ("our judgement: ", "RoCE is RDMA over Ethernet", "the fabric is InfiniBand", "no priority is protected")
    for origin in expect.load(None, name, "x").origin.values():
        assert re.search(r": https://\S+$", origin) or origin.split(": ", 1)[1].startswith(ours), origin


def test_a_profile_says_which_values_are_its_own_and_which_its_bases():
    origin = expect.load(None, "meta-like", "x").origin
    assert origin["rate_gbps"].startswith("profile meta-like: 400 Gb/s: https://")
    assert origin["max_pause_share"].startswith("profile roce-pfc-only, the base of meta-like: ")
    assert origin["dscp"].startswith("profile roce-lossless, the base of roce-pfc-only: ")
    assert "cnp_priority" not in origin, "without congestion control there are no CNPs"


def test_a_table_drops_what_lies_under_it(tmp_path):
    text = (
        'profile = "roce-lossless"\n[expect]\nunset = ["dscp"]\ntrust = "pcp"\n[expect.group."gpu017"]\nunset = ["mtu"]'
    )
    config = load(tmp_path, text)
    assert (config.expect.trust, config.expect.dscp, config.expect.mtu) == ("pcp", None, None)
    assert {"dscp", "mtu"}.isdisjoint(config.origin)
    assert load(tmp_path, text, "gpu018").expect.mtu == 4096


def test_every_expectation_has_a_rule_and_a_meaning():
    assert set(_RULES) == set(expect.names())
    assert all(expect.about(name) for name in expect.names())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mtu = 4096", "line 1: mtu: no such key"),
        ("[expect]\nmut = 4096", "line 2: expect.mut: no such expectation; did you mean 'mtu'?"),
        ("[expect]\n\nmtu = 9000", "line 3: expect.mtu: 9000 is not right: an RDMA MTU: 256, 512, 1024, 2048 or 4096"),
        ('[expect]\nmtu = "4096"', "line 2: expect.mtu: '4096' is not right"),
        ("[expect]\nmtu = true", "line 2: expect.mtu: True is not right"),
        ("[expect]\nlossless_priorities = [8]", "a list of priorities from 0 to 7"),
        ("[expect]\nlossless_priorities = 3", "a list of priorities from 0 to 7"),
        ("[expect]\ndscp = 106", "a DSCP from 0 to 63"),
        ("expect = 3", "line 1: expect: must be a table"),
        ("[checks]\ndisable = 'x'", "line 2: checks.disable: must be a list of check ids"),
        ("[checks]\nlevel = 1", "line 2: checks.level: no such key"),
        ('[checks.severity]\npfc-off = "fatal"', 'line 2: checks.severity.pfc-off: must be "critical"'),
        ('profile = "roce"', "line 1: profile: no profile is called 'roce'; there are ainic-roce, alibaba-like"),
        ("profile = 3", "line 1: profile: must be a text"),
        ("[expect\nmtu=1", "not valid TOML"),
        ('[expect.group."gpu[1-"]\nmtu = 4096', "not a set of nodes"),
        ('[expect.group."gpu017"]\nmut = 1', 'expect.group."gpu017".mut: no such expectation'),
        ('[expect.group."other"]  # not here\nmut = 1', 'line 2: expect.group."other".mut: no such expectation'),
        ("[expect.group.other]\nmtu = 1", 'line 2: expect.group."other".mtu: 1 is not right'),
        (
            "[expect]\nrails = []",
            'line 2: expect.rails: [] is not right: a list of glob patterns, as in ["mlx5_[0-7]"]',
        ),
        ('[expect]\nrails = ["mlx5_0", " "]', "line 2: expect.rails: ['mlx5_0', ' '] is not right"),
        ("[expect]\ndevices = 0", "line 2: expect.devices: 0 is not right: how many devices, 1 or more"),
        ("[expect]\nrate_gbps = 0", "line 2: expect.rate_gbps: 0 is not right: a rate in Gb/s, as in 400"),
        ("[expect]\nmax_pause_share = 10", "line 2: expect.max_pause_share: 10 is not right: a share from 0 to 1"),
        ("[expect]\ncnp_priority = 8", "line 2: expect.cnp_priority: 8 is not right: a priority from 0 to 7"),
        (
            "[expect]\nnccl_version = 2.18",
            'expect.nccl_version: 2.18 is not right: a version of NCCL in quotes, as in "2',
        ),
        ('[expect]\nnccl_version = "2"', "line 2: expect.nccl_version: '2' is not right"),
        ("[expect]\nunset = 3", 'line 2: expect.unset: must be a list of expectations: ["dscp"]'),
        ('[expect]\nunset = ["dcsp"]', "line 2: expect.unset: no expectation is called 'dcsp'; did you mean 'dscp'?"),
        ('[expect]\nunset = ["dscp"]\ndscp = 1', "line 2: expect.unset: dscp is set in the same table; one of the two"),
    ],
)
def test_an_error_says_where_and_what_would_be_right(tmp_path, text, message):
    with pytest.raises(ConfigError) as error:
        load(tmp_path, text)
    assert "site.toml" in str(error.value)
    assert message in str(error.value)


def test_files_that_cannot_be_read(tmp_path):
    import os

    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for name, message in (("gone", "No such file"), ("fifo", "not a regular file"), ("bytes", "not UTF-8")):
        with pytest.raises(ConfigError, match=message):
            expect.load(tmp_path / name, None, "x")


def test_an_unknown_profile_on_the_command_line():
    with pytest.raises(ConfigError, match="--profile: no profile is called 'x'"):
        expect.load(None, "x", "x")
    with pytest.raises(ConfigError, match="no profile"):
        expect.load(None, "../profiles/infiniband", "x")


CNP = "a CNP that PFC pauses comes too late; give CNPs a priority outside the lossless ones"
PCP = 'the DSCP is never looked at where the VLAN priority is trusted; trust = "dscp", or unset = ["dscp"]'
SLOW = "nothing would slow a sender down; name the lossless priorities, or a congestion control"
FEW = "2 names without a wildcard are 2 devices at most"
ROCE = 'that is for RoCE; link_layer = "Ethernet", profile = "infiniband", or unset = '


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[expect]\nlossless_priorities = [3, 5]\ncnp_priority = 5",
            "{file}, line 3: expect.cnp_priority: 5 contradicts lossless_priorities = [3, 5] ({file}, line 2): " + CNP,
        ),
        (
            "[expect]\ncnp_priority = 5\n\nlossless_priorities = [5]",
            f"{{file}}, line 4: expect.lossless_priorities: [5] contradicts cnp_priority = 5 ({{file}}, line 2): {CNP}",
        ),
        (
            'profile = "thor2-roce"\n[expect]\nlossless_priorities = [7]',
            "{file}, line 3: expect.lossless_priorities: [7] contradicts cnp_priority = 7 (profile thor2-roce): " + CNP,
        ),
        (
            'profile = "roce-lossless"\n[expect]\ntrust = "pcp"',
            '{file}, line 3: expect.trust: "pcp" contradicts dscp = 26 (profile roce-lossless): ' + PCP,
        ),
        (
            'profile = "roce-lossy"\n[expect]\ncongestion_control = "off"',
            '{file}, line 3: expect.congestion_control: "off" contradicts lossless_priorities = [] '
            "(profile roce-lossy): " + SLOW,
        ),
        (
            'profile = "meta-like"\n[expect]\nlossless_priorities = []',
            '{file}, line 3: expect.lossless_priorities: [] contradicts congestion_control = "off" '
            "(profile meta-like): " + SLOW,
        ),
        (
            '[expect]\ndevices = 8\nrails = ["rail0", "rail1"]',
            '{file}, line 3: expect.rails: ["rail0", "rail1"] contradicts devices = 8 ({file}, line 2): ' + FEW,
        ),
        (
            'profile = "infiniband"\n[expect]\ndscp = 26',
            '{file}, line 3: expect.dscp: 26 contradicts link_layer = "InfiniBand" (profile infiniband): '
            + ROCE + '["dscp"]',
        ),
        (
            '[expect]\ndscp = 26\ntrust = "dscp"\n[expect.group."ib[1-8]"]  # the old half\nlink_layer = "InfiniBand"',
            '{file}, line 5: expect.group."ib[1-8]".link_layer: "InfiniBand" contradicts '
            'trust = "dscp" ({file}, line 3); dscp = 26 ({file}, line 2): ' + ROCE + '["trust", "dscp"]',
        ),
        (
            '[expect]\ncnp_priority = 6\n[expect.group."gpu[001-128]"]\nmtu = 4096\nlossless_priorities = [6]',
            '{file}, line 5: expect.group."gpu[001-128]".lossless_priorities: [6] contradicts cnp_priority = 6 '
            "({file}, line 2): " + CNP,
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("hostname", ["gpu017", "elsewhere"])
def test_what_contradicts_itself_is_refused_everywhere(tmp_path, text, message, hostname):
    with pytest.raises(ConfigError) as error:
        load(tmp_path, text, hostname)
    assert str(error.value) == message.replace("{file}", str(tmp_path / "site.toml"))


@pytest.mark.parametrize(
    "text",
    [
        "[expect]\ncnp_priority = 6",
        "[expect]\nlossless_priorities = []\ncnp_priority = 6",
        '[expect]\ntrust = "pcp"\nlossless_priorities = [3]',
        '[expect]\ncongestion_control = "off"',
        '[expect]\ndevices = 8\nrails = ["mlx5_*"]',
        '[expect]\ndevices = 2\nrails = ["rail0", "rail1"]',
        'profile = "infiniband"\n[expect]\nmax_loss_ppm = 1',
        'profile = "roce-lossless"\n[expect]\ncongestion_control = "off"',
        'profile = "roce-lossless"\n[expect.group."a"]\nunset = ["dscp"]\ntrust = "pcp"\n[expect.group."b"]\ndscp = 24',
    ],
)
def test_what_can_hold_together_is_accepted(tmp_path, text):
    assert load(tmp_path, text).file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = " + "[" * 100000, "not valid TOML: it is nested too deeply"),
        ("[expect]\ndscp = " + "9" * 10000, "not valid TOML: Exceeds the limit"),
        ("[expect]\nmtu = 4096.0", "line 2: expect.mtu: 4096.0 is not right"),
        ("[expect]  # what we want\nmtu = 9000", "line 2: expect.mtu: 9000 is not right"),
        ('[expect.group."gpu[1-4]"]  # they\nmtu = 9000', "line 2: expect.group"),
        ('[expect.group."other[1-4]"]\nmut = 1', 'line 2: expect.group."other[1-4]".mut: no such expectation'),
        ('[expect.group."@racks"]\nmtu = 4096', "line 1: expect.group.@racks: not a set of nodes: names and ranges"),
        ('[expect.group."gpu*"]\nmtu = 4096', "line 1: expect.group.gpu*: not a set of nodes: names and ranges"),
        ('[expect.group.""]\nmtu = 4096', "not a set of nodes: names and ranges"),
        ('[expect.group."n[0-9999][0-9999]"]\nmtu = 4096', "names more than 1000000 nodes"),
        ("[expect.group]\nx = 3", "line 2: expect.group.x: must be a table"),
        ('profile = ""', "line 1: profile: no profile is called ''"),
    ],
)
def test_what_was_silently_wrong_is_said(tmp_path, text, message):
    with pytest.raises(ConfigError) as error:
        load(tmp_path, text)
    assert message in str(error.value)


def test_windows_line_ends_and_a_byte_order_mark_are_fine(tmp_path):
    (tmp_path / "site.toml").write_bytes(b"\xef\xbb\xbf[expect]\r\ndscp = 24\r\n")
    config = expect.load(tmp_path / "site.toml", None, "x")
    assert config.expect.dscp == 24
    assert config.origin["dscp"].endswith("site.toml, line 2")


def test_an_empty_profile_on_the_command_line_is_not_none():
    with pytest.raises(ConfigError, match="--profile: no profile is called ''"):
        expect.load(None, "", "x")


def test_a_site_file_that_may_not_be_looked_at_is_an_error_not_an_absence(tmp_path, monkeypatch):
    import sys

    module = sys.modules["fabricdoctor.expect.load"]

    class Hidden(type(tmp_path)):
        def stat(self, **_):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(module, "SITE_FILE", Hidden(tmp_path / "site.toml"))
    with pytest.raises(ConfigError, match=r"site\.toml: cannot be read: Permission denied"):
        expect.load(None, None, "x")
