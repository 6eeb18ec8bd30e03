"""Priorities: names and numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.jobs.priority import NAMES, name_of, priority
from windlass.errors import OptionInvalid


def test_four_priorities_have_names():
    assert {name: priority(name) for name in NAMES} == {
        "critical": 25,
        "high": 50,
        "normal": 100,
        "low": 200,
    }
    assert [name_of(priority(name)) for name in NAMES] == list(NAMES)
    assert name_of(101) is None


@given(st.integers(-32_768, 32_767))
def test_a_number_in_range_is_accepted(number):
    assert priority(number) == number


@pytest.mark.parametrize(
    "wrong",
    [-32_769, 32_768, "urgent", "", "High", "50", 1.0, True, None, [], 10**30, 10**5000],
    ids=lambda wrong: type(wrong).__name__,
)
def test_other_values_are_refused(wrong):
    with pytest.raises(OptionInvalid, match="critical, high, normal, low"):
        priority(wrong)
