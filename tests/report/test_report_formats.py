"""JSON against its schema, Markdown that stays in its cells, and what importing a format costs."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import jsonschema
import pytest
from report_samples import fault, full, generated, report, wrong_priority

from fabricdoctor import report as formats
from fabricdoctor.finding import Fault
from fabricdoctor.report import json as as_json
from fabricdoctor.report import markdown
from fabricdoctor.report.schema import SCHEMA
from fabricdoctor.report.words import compact, generic, wrap

SEEDS = range(60)


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid({})


@pytest.mark.parametrize("sample", [report(), report(ports=None), full(), *map(generated, SEEDS)])
def test_json_is_what_the_schema_says(sample):
    rendered = as_json.render(sample)
    jsonschema.validate(json.loads(rendered), SCHEMA, jsonschema.Draft202012Validator)
    assert json.loads(rendered) == as_json.content(sample)
    assert rendered.isascii()
    assert "\x1b" not in rendered


def test_json_counts_add_up_and_a_finding_is_a_line():
    rendered = as_json.render(full())
    tally = json.loads(rendered)["counts"]
    assert tally.pop("checked") == sum(tally.values()) == len(full().findings)
    assert len([line for line in rendered.splitlines() if line.startswith('    {"check": ')]) == len(full().findings)


def test_json_of_one_fault():
    first = next(line for line in as_json.render(report([wrong_priority(0)])).splitlines() if '"check"' in line)
    assert first == (
        '    {"check": "pfc-on-wrong-priority", "subject": "mlx5_0/1 (rail0)", "verdict": "fault", '
        '"severity": "critical", "saw": "PFC on [0]", "want": "PFC on [3]", '
        '"fix": "dcb pfc set dev rail0 prio-pfc all:off 3:on", "odd": [], "reason": null, "why": null, '
        '"source": null, "expectation": null, "folded_under": null}'
    )


@pytest.mark.parametrize("change", [{"more": 1}, {"format": 2}, {"status": 2}, {"host": None}])
def test_the_schema_refuses(change):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(as_json.render(full())) | change, SCHEMA)


@pytest.mark.parametrize("sample", [full(), *map(generated, SEEDS)])
def test_markdown_cells_are_balanced(sample):
    rendered = markdown.render(sample)
    assert rendered.replace("\n", "").isprintable()
    outside = re.sub(r"^(`{3,})sh\n.*?^\1$", "", rendered, flags=re.DOTALL | re.MULTILINE)
    for line in outside.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 6
    prose = re.sub(r"(?<![`\\])(`+)(?!`).*?(?<!`)\1(?!`)", "", outside)
    assert "<script" not in prose


def test_markdown_of_hostile_data():
    seen = Fault("a|b <img> *x* @all", "`y`", "echo '```'\nrm x")
    rendered = markdown.render(report([fault("bad", "a`|b", seen)]))
    assert "| **CRITICAL** | `bad` | ``a`\\|b`` | a\\|b &lt;img\\> \\*x\\* @<!-- -->all | \\`y\\` |" in rendered
    assert "````sh\necho '```'\nrm x\n````" in rendered


@pytest.mark.parametrize("seed", SEEDS)
def test_markdown_shows_every_fault(seed):
    rendered = markdown.render(generated(seed))
    assert all(f"`{f.check}`" in rendered for f in generated(seed).findings if f.fault)


@pytest.mark.parametrize("form", formats.FORMATS)
def test_each_format_by_name(form):
    assert "gpu017" in formats.render(form, full())


def test_no_other_format():
    with pytest.raises(ValueError, match="no such format: yaml"):
        formats.render("yaml", full())


def test_importing_text_imports_nothing_costly():
    code = "import sys, fabricdoctor.report.text; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"json", "textwrap", "rich", "fabricdoctor.report.json", "fabricdoctor.report.markdown"} & {*loaded}


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["a0", "a1", "a2"], "a0, a1, a2"),
        (["a0", "a2", "a1", "a5", "b"], "a[0-2,5], b"),
        (["n008", "n009", "n010", "n011"], "n[008-011]"),
        (["a0/1", "a0/2", "a1/1", "a1/2"], "a0/1, a0/2, a1/1, a1/2"),
        (["0000:17:00.0", "0000:18:00.0", "0000:19:00.0", "0000:20:00.0"],) * 1
        + ("0000:17:00.0, 0000:18:00.0, 0000:19:00.0, 0000:20:00.0",),
        ([c * 2 for c in "abcdefghijklmnopqrst"], ", ".join(c * 2 for c in "abcdefghijklmnop") + " and 4 more"),
    ],
)
def test_names_are_listed_compactly(names, shown):
    assert compact(names) == shown


def test_names_are_replaced_only_as_words():
    assert generic("mlx5_1 and mlx5_10 on rail1", "mlx5_1/1 (rail1)") == "<device> and mlx5_10 on <interface>"


def test_wrapping_cuts_only_what_cannot_fit():
    assert wrap("aa bb " + "c" * 12, 8, "- ", "  ") == ["- aa bb", "  cccccc", "  cccccc"]
