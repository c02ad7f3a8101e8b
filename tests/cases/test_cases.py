"""What people reported is said, and what they were falsely alarmed by is not."""

from dataclasses import replace

import pytest
from cases import make, reports

from fabricdoctor import catalogue, expect, recording
from fabricdoctor.facts import observe
from fabricdoctor.finding import Verdict
from fabricdoctor.judge import conclude, judge

CASES = make.CASES + reports.CASES
CHECKS = catalogue.load([catalogue.builtin()]).checks.values()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case):
    taken = recording.load(case.file)
    wanted = replace(expect.load(None, case.profile, "node01").expect, **dict(case.expect))
    found = judge(CHECKS, observe(taken.host(), wanted.rails), wanted)
    faults = {(f.check, f.severity.value): f.fault.saw for f in found if f.fault and not f.folded_under}
    assert set(faults) == {(check, severity) for check, severity, _ in case.must}, faults
    for check, severity, saw in case.must:
        assert saw in faults[check, severity]
    assert not [f for f in found if f.verdict is Verdict.BROKEN]
    assert conclude(found).status == int(any(severity == "critical" for _, severity, _ in case.must))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_file_is_what_the_table_makes_and_each_answer_has_an_origin(case):
    assert case.file.read_text() == case.recording().text(), "run python tests/cases/make.py"
    taken = recording.load(case.file)
    assert case.source in taken.origin
    assert {answer["origin"] for answer in taken.answers.values()} <= {"reported", "constructed", "captured"}
