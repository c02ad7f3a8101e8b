"""Recordings survive the disk, say what they cannot be read for, and hide what identifies a site."""

import json

import pytest

from fabricdoctor import recording
from fabricdoctor.host import Recorder, Replay
from fabricdoctor.recording import Recording, RecordingError, Take
from fabricdoctor.redact import redacted
from fabricdoctor.unknown import Unknown

ANSWERS = {
    "read /a": {"value": "1"},
    "read /b": {"unknown": "denied", "detail": "Permission denied"},
    "list /c": {"value": ["x", "y"]},
}
TAKEN = Recording(
    ANSWERS, Take(1.8e9, 100.0, "b"), {"read /a": {"value": "0"}}, Take(1.8e9 - 60, 40.0, "b"), origin="captured"
)


@pytest.mark.parametrize("name", ["r.json", "r.json.gz"])
def test_what_was_written_is_read_back(tmp_path, name):
    recording.write(tmp_path / name, TAKEN.text())
    assert recording.load(tmp_path / name) == TAKEN
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o640


def test_one_answer_a_line_sorted():
    lines = TAKEN.text().splitlines()
    keys = [line.split('"')[1] for line in lines if line.startswith('"') and '{"' in line and "takes" not in line]
    assert keys == ["read /a", "list /c", "read /a", "read /b"]


def test_replay_answers_as_the_machine_did():
    host = TAKEN.host()
    assert host.ask("read", "/a") == "1"
    assert host.ask("read", "/b") == Unknown("read /b", "denied")
    assert host.ask("read", "/new") == Unknown("read /new", "not-recorded")
    assert host.earlier("read", "/a") == "0"
    assert host.seconds() == 60.0


def test_recording_a_replay_gives_the_same_answers():
    recorder = Recorder(Replay(ANSWERS))
    recorder.ask_all([("read", "/a"), ("read", "/b"), ("list", "/c"), ("read", "/a")])
    assert recorder.answers == ANSWERS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "JSON expected"),
        ("[]", 'no "format" number'),
        ('{"format": 99, "tool": "7.1"}', "written by fabricdoctor 7.1; this version"),
        ('{"format": 1}', "not a complete recording"),
        ('{"format": 1, "takes": [], "before": {}, "answers": {}}', '"takes" has 0 samples, not one or two'),
        (
            '{"format": 1, "takes": [], "before": {}, "answers": {"a": 1}}',
            'each answer is {"value": ...} or {"unknown": ...}',
        ),
    ],
)
def test_a_file_that_is_no_recording_is_named_with_the_reason(tmp_path, text, message):
    file = tmp_path / "bad.json"
    file.write_text(text)
    with pytest.raises(RecordingError, match=message) as error:
        recording.load(file)
    assert str(file) in str(error.value)


def test_a_directory_a_missing_file_and_a_pipe_are_named(tmp_path):
    import os

    os.mkfifo(tmp_path / "fifo")
    for name in (".", "gone", "fifo"):
        with pytest.raises(RecordingError, match=r"(not a regular file|cannot be read)"):
            recording.load(tmp_path / name)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    file = tmp_path / "r.json"
    file.write_text("old")

    def full(_fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(recording.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        recording.write(file, TAKEN.text())
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]
    assert file.read_text() == "old"


SECRETS = {
    "read /proc/sys/kernel/hostname": {"value": "gpu017.cluster.example"},
    "addresses": {"value": {"rail0": ["192.0.2.7/24", "fe80::a288:c2ff:fe01:2/64"], "rail1": ["192.0.2.9/24"]}},
    "gids mlx5_0/1": {
        "value": {
            "length": 4,
            "entries": {"3": {"gid": "0000:0000:0000:0000:0000:ffff:c000:0207", "type": "RoCE v2", "ndev": "rail0"}},
        }
    },
    "read /sys/class/net/rail0/address": {"value": "a0:88:c2:01:00:02"},
    "verbs.device mlx5_0": {"value": {"node_guid": "a088:c203:0001:0002", "fw_ver": "28.39.1002"}},
    "environ": {"value": {"NCCL_IB_HCA": "mlx5", "HOME": "/home/alice", "SLURM_JOB_USER": "alice"}},
    "read /home/alice/.nccl.conf": {"value": "NCCL_IB_TC=106"},
    "link /sys/class/infiniband/mlx5_0/device": {"value": "../../../0000:1a:00.0"},
}


def test_redaction_hides_what_identifies_and_keeps_what_is_equal():
    hidden = redacted(Recording(SECRETS, Take(1.0, 1.0, "boot"))).answers
    text = json.dumps(hidden)
    for secret in ("gpu017", "cluster.example", "192.0.2", "c000:0207", "a0:88:c2", "a088:c203", "alice", "a288:c2ff"):
        assert secret not in text
    assert "0000:1a:00.0" in text
    assert f"read {hidden['environ']['value']['HOME']}/.nccl.conf" in hidden
    assert "28.39.1002" in text
    import ipaddress

    own = ipaddress.ip_interface(hidden["addresses"]["value"]["rail0"][0])
    other = ipaddress.ip_interface(hidden["addresses"]["value"]["rail1"][0])
    gid = ipaddress.IPv6Address(hidden["gids mlx5_0/1"]["value"]["entries"]["3"]["gid"])
    assert gid.ipv4_mapped == own.ip
    assert own.network == other.network
    assert own.ip != other.ip
    assert hidden["addresses"]["value"]["rail0"][1].startswith("fe80::")


@pytest.mark.parametrize("length", [16, 24, 28, 31])
def test_redaction_keeps_which_addresses_share_a_subnet(length):
    import ipaddress

    texts = [f"198.51.{third}.{last}/{length}" for third in (7, 8) for last in (2, 3, 18, 34)]
    answers = {"addresses": {"value": {f"rail{n}": [text] for n, text in enumerate(texts)}}}
    table = redacted(Recording(answers, Take(1.0, 1.0, "boot"))).answers["addresses"]["value"]
    before = [ipaddress.ip_interface(text).network for text in texts]
    after = [ipaddress.ip_interface(table[f"rail{n}"][0]).network for n in range(len(texts))]
    assert not {str(n.network_address) for n in before} & {str(n.network_address) for n in after}
    assert [[a == b for b in after] for a in after] == [[a == b for b in before] for a in before]


def test_redaction_keeps_of_lldp_only_what_facts_are_made_of():
    from tools import captured

    from fabricdoctor.facts.tools import lldp

    text = captured.LLDPCLI.replace('"vlan":', '"ppvid": [{"name": "secret"}], "vlan":')
    answers = {"tool lldpcli": {"value": {"status": 0, "output": text}}}
    output = redacted(Recording(answers, Take(1.0, 1.0, "boot"))).answers["tool lldpcli"]["value"]["output"]
    for secret in ("leaf1", "node01", "Example NOS", "192.0.2.11", "02:00:00:00:aa:01", "secret"):
        assert secret not in output
    whole, hidden = lldp.parse(text)["rail0"], lldp.parse(output)["rail0"]
    assert hidden.system.startswith("switch-")
    assert (hidden.port, hidden.pfc_priorities, hidden.priority_by_dscp, hidden.max_frame_bytes, hidden.is_switch) == (
        whole.port, whole.pfc_priorities, whole.priority_by_dscp, whole.max_frame_bytes, whole.is_switch,
    )  # fmt: skip


@pytest.mark.parametrize("output", ["", "{", '{"lldp": 1}', '{"lldp": [{"interface": [{}]}]}', "leaf1"])
def test_lldp_that_cannot_be_read_is_not_kept_when_redacting(output):
    answers = {"tool lldpcli": {"value": {"status": 0, "output": output}}}
    assert redacted(Recording(answers, Take(1.0, 1.0, "boot"))).answers["tool lldpcli"]["value"]["output"] == ""


def test_redaction_hides_serial_numbers_and_ids_in_what_tools_print():
    from tools import captured

    card = "490814a0-6c40-4242-4242-000011010000"
    outputs = {
        "tool mlxlink 0000:03:00.0": captured.MLXLINK,
        "tool nicctl qos": captured.NICCTL_QOS.replace("00000000-0000-0000-0000-000011010000", card),
    }
    answers = {name: {"value": {"status": 0, "output": output}} for name, output in outputs.items()}
    hidden = json.dumps(redacted(Recording(answers, Take(1.0, 1.0, "boot"))).answers)
    assert "EX123456789" not in hidden
    assert card not in hidden
    assert "EX-400-DAC" in hidden


def test_what_the_name_says_does_not_matter_for_reading(tmp_path):
    recording.write(tmp_path / "r.json.gz", TAKEN.text())
    (tmp_path / "r.json.gz").rename(tmp_path / "packed.json")
    (tmp_path / "plain.gz").write_text(TAKEN.text())
    assert recording.load(tmp_path / "packed.json") == recording.load(tmp_path / "plain.gz") == TAKEN


def packed(text):
    import gzip

    return gzip.compress(text.encode(), mtime=0)


def changed(**fields):
    return json.dumps({**json.loads(TAKEN.text()), **fields}).encode()


TAKE = {"wall": 1, "monotonic": 1, "boot_id": ""}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (packed(TAKEN.text())[:60], r"damaged or cut off \(gzip\)"),
        (packed(TAKEN.text())[:20] + b"\0" * 9 + packed(TAKEN.text())[29:], r"damaged or cut off \(gzip\)"),
        (b"[" * 100000, "nested too deeply"),
        (b'{"format": ' + b"9" * 10000 + b"}", "JSON expected"),
        (changed(format=True), 'no "format" number'),
        (changed(format=-1), 'no "format" number'),
        (changed(takes="abc"), 'each of "takes" has "wall"'),
        (changed(takes=[TAKE] * 3), '"takes" has 3 samples'),
        (changed(takes=[{**TAKE, "wall": 10**400}]), "int too large"),
        (changed(takes=[{**TAKE, "wall": 1e300}]), "no time: wall 1e"),
        (changed(takes=[{**TAKE, "wall": -1}]), "no time: wall -1"),
        (changed(takes=[{**TAKE, "wall": float("nan")}]), "NaN is not a JSON number"),
        (changed(takes=[{**TAKE, "monotonic": "inf"}]), "no time: wall 1, monotonic inf"),
        (changed(takes=[{"wall": 1}]), "it has no 'monotonic'"),
    ],
)
def test_a_damaged_recording_is_named_with_the_reason(tmp_path, data, message):
    (tmp_path / "bad.json").write_bytes(data)
    with pytest.raises(RecordingError, match=message) as error:
        recording.load(tmp_path / "bad.json")
    assert "bad.json: " in str(error.value)


def test_what_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "_LIMIT", 1 << 20)
    (tmp_path / "bomb.gz").write_bytes(packed(" " * (2 << 20)))
    with pytest.raises(RecordingError, match="larger than 1 MiB"):
        recording.load(tmp_path / "bomb.gz")


@pytest.mark.parametrize("why", [[], {}, None, 3, "because", True])
def test_a_reason_that_is_none_is_not_understood(why):
    assert Replay({"read /a": {"unknown": why}}).ask("read", "/a") == Unknown("read /a", "unparsable")
