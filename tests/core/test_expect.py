"""Configuration: each value with its origin, each error with file, line, key and what would be right."""

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
        ('profile = "roce"', "line 1: profile: no profile is called 'roce'; there are infiniband, roce-lossless"),
        ("profile = 3", "line 1: profile: must be a text"),
        ("[expect\nmtu=1", "not valid TOML"),
        ('[expect.group."gpu[1-"]\nmtu = 4096', "not a set of nodes"),
        ('[expect.group."gpu017"]\nmut = 1', 'expect.group."gpu017".mut: no such expectation'),
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
