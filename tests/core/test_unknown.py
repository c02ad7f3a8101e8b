"""Unknown cannot be mistaken for a value."""

import pytest

from fabricdoctor.unknown import Unknown, UnknownFact, known, known_or, then

U = Unknown("read /x", "missing")


def test_it_refuses_to_be_a_truth_value_or_a_number():
    for misuse in (lambda: bool(U), lambda: U == 9000, lambda: U == 9000, lambda: U < 9000):
        with pytest.raises(TypeError):
            misuse()


def test_known_stops_and_known_or_falls_back():
    with pytest.raises(UnknownFact) as stop:
        known(U)
    assert stop.value.unknown is U
    assert known(5) == 5
    assert known_or(U, 7) == 7


def test_then_keeps_unknown_and_turns_nonsense_into_unknown():
    assert then(U, int) is U
    assert then("12", int) == 12
    nonsense = then("N/A (no PMA)", int, "read /y")
    assert isinstance(nonsense, Unknown)
    assert (nonsense.source, nonsense.why) == ("read /y", "unparsable")
