"""Rows of definitions follow the code, except for fields an operator edited."""

from dataclasses import replace

from windlass.core.definitions import merge
from windlass.core.definitions.definition import Definition
from windlass.core.definitions.options import edits
from windlass.ids import DefinitionKey

CODE = Definition(key=DefinitionKey("mail.send"), title="Mail", max_attempts=3, code_hash="1")


def test_a_new_row_equals_the_code_and_has_no_edits():
    row = merge.merge_with_code(None, CODE)

    assert (row.max_attempts, row.edited, row.origin, row.missing_from_code) == (
        3,
        (),
        "code",
        False,
    )


def test_an_edit_overrides_changed_code_and_is_marked():
    row = merge.apply_edits(merge.merge_with_code(None, CODE), edits({"max_attempts": 9}))

    followed = merge.merge_with_code(
        row, replace(CODE, max_attempts=5, title="Post", code_hash="2")
    )

    assert (followed.max_attempts, followed.edited) == (9, ("max_attempts",))
    assert followed.title == "Post"
    assert followed.code["max_attempts"] == 5


def test_a_reset_restores_exactly_the_given_fields():
    row = merge.merge_with_code(None, CODE)
    row = merge.apply_edits(row, edits({"max_attempts": 9, "rate_limit": "5/s", "tags": ["vip"]}))

    partly = merge.reset_edits(row, ["max_attempts"])
    wholly = merge.reset_edits(partly)

    assert partly.edited == ("rate_count", "rate_seconds", "tags")
    assert (wholly.edited, wholly.rate_count, wholly.tags, wholly.gate) == ((), None, (), "")


def test_an_edit_equal_to_the_code_is_no_edit():
    row = merge.apply_edits(merge.merge_with_code(None, CODE), {"max_attempts": 9})

    assert merge.apply_edits(row, {"max_attempts": 3}).edited == ()


def test_an_edited_rate_stays_complete_when_the_code_changes():
    code = replace(CODE, rate_count=10, rate_seconds=60.0)
    row = merge.apply_edits(merge.merge_with_code(None, code), edits({"rate_limit": "5/min"}))
    faster = merge.apply_edits(merge.merge_with_code(None, code), edits({"rate_limit": "10/s"}))

    hourly = merge.merge_with_code(row, replace(code, rate_count=100, rate_seconds=3600.0))
    unlimited = merge.merge_with_code(faster, replace(code, rate_count=None, rate_seconds=None))

    assert (hourly.rate_count, hourly.rate_seconds) == (5, 60.0)
    assert (unlimited.rate_count, unlimited.rate_seconds) == (10, 1.0)
    assert hourly.edited == ("rate_count", "rate_seconds")
    assert merge.reset_edits(hourly, ["rate_count"]).rate_seconds == 3600.0


def test_limited_or_disabled_definitions_have_their_own_gate():
    row = merge.merge_with_code(None, CODE)

    assert row.gate == ""
    assert merge.apply_edits(row, {"enabled": False}).gate == "mail.send"
    assert merge.apply_edits(row, edits({"rate_limit": "5/s"})).gate == "mail.send"


def test_a_definition_that_returns_to_code_keeps_its_edits():
    row = merge.mark_missing(
        merge.apply_edits(merge.merge_with_code(None, CODE), {"enabled": False})
    )

    assert merge.needs_sync(row, CODE)
    back = merge.merge_with_code(row, CODE)

    assert (back.missing_from_code, back.enabled, back.edited) == (False, False, ("enabled",))


def test_a_row_disabled_before_edits_existed_stays_disabled():
    old = replace(CODE, enabled=False, code=None)

    row = merge.merge_with_code(old, CODE)

    assert (row.enabled, row.edited) == (False, ("enabled",))
