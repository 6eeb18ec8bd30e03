"""The tables of planted bugs match the source and the existing tests."""

import re
from collections import Counter

import pytest

from tests.mutants.mutant import ROOT, source_of
from tests.mutants.table import MUTANTS


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_planted_bug_still_fits_the_source(mutant):
    text = source_of(mutant).read_text("utf-8")

    assert mutant.applied(text) != text


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_tests_that_should_notice_a_bug_exist(mutant):
    assert mutant.tests
    for test in mutant.tests:
        path, _, name = test.partition("::")
        text = (ROOT / path).read_text("utf-8")
        assert not name or re.search(rf"def {re.escape(name.partition('[')[0])}\(", text)


def test_each_planted_bug_has_a_name_of_its_own():
    assert max(Counter(mutant.name for mutant in MUTANTS).values()) == 1
