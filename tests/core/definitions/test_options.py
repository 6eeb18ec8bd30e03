"""Options operators may set on a definition: each fits a row of every database, or is refused."""

import json
import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.definitions import merge
from windlass.core.definitions.backoff import Backoff
from windlass.core.definitions.definition import Definition
from windlass.core.definitions.options import FIELDS, edits, fields_named
from windlass.errors import WindlassError
from windlass.ids import DefinitionKey

CODE = Definition(key=DefinitionKey("mail.send"), title="Mail", code_hash="1")

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.timedeltas()
    | st.sampled_from(["forever", "100/min", "5s", "high", Backoff(kind="none"), math.inf]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*FIELDS]) | st.text(), ANYTHING, max_size=4))
def test_any_edit_is_accepted_or_refused(changes):
    try:
        fields = edits(changes)
    except WindlassError:
        return
    row = merge.apply_edits(merge.merge_with_code(None, CODE), fields)

    for name in row.edited:
        value = getattr(row, name)
        json.dumps(value, allow_nan=False).encode()
        assert not isinstance(value, int) or value < 2**31
    assert merge.reset_edits(row).edited == ()


@given(st.lists(st.sampled_from([*FIELDS]), max_size=5))
def test_every_field_an_option_sets_can_be_reset(names):
    for name in names:
        assert set(fields_named(name)) <= set(merge.EDITABLE)


@pytest.mark.parametrize(
    "change",
    [
        {"max_concurrency": 2**31},
        {"max_per_key": 2**63},
        {"retention_count": 10**30},
        {"metadata": {"at": object()}},
        {"metadata": {"n": math.nan}},
        {"metadata": {"text": "\x00"}},
        {"metadata": {"much": "x" * 20_000}},
        {"tags": ["\ud800"]},
        {"tags": [""]},
        {"tags": ["x"] * 1_000},
        {"timeout": timedelta(days=400_000)},
        {"timeout": None},
        {"priority": None},
        {"enabled": None},
    ],
)
def test_values_too_large_for_a_row_are_refused(change):
    with pytest.raises(WindlassError):
        edits(change)


def test_an_unknown_option_cannot_be_reset():
    with pytest.raises(WindlassError, match="prioirty"):
        fields_named("prioirty")
