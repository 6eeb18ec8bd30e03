"""Every error has an exit code, and foreign errors are reported like ours."""

import click
import pytest

from windlass.cli.framework.error_report import as_windlass_error, error_lines, report
from windlass.cli.framework.exit_codes import CODES, Exit, code_of
from windlass.cli.framework.flags import Flags
from windlass.errors import (
    CommandInvalid,
    DatabaseUnreachable,
    SettingProblem,
    SettingsInvalid,
    WindlassError,
    by_code,
)


def test_every_error_is_in_the_table():
    assert set(CODES) == set(by_code().values())


def test_an_error_that_is_not_listed_has_the_exit_code_of_its_base_class():
    class Special(DatabaseUnreachable):
        pass

    assert code_of(Special) is Exit.UNREACHABLE


def test_the_codes_are_those_that_scripts_rely_on():
    assert {exit.name: int(exit) for exit in Exit} == {
        "OK": 0,
        "FAILED": 1,
        "USAGE": 2,
        "NOT_FOUND": 3,
        "FORBIDDEN": 4,
        "CONFLICT": 5,
        "UNREACHABLE": 6,
        "PARTLY": 7,
        "JOB_FAILED": 8,
        "TIMED_OUT": 9,
        "LEFT_BEHIND": 10,
        "BLOCKED": 11,
        "EPOCH_CHANGED": 12,
        "INTERRUPTED": 130,
    }


def test_an_error_shows_what_happened_why_and_what_to_do():
    error = DatabaseUnreachable("postgresql://u:p@db.internal/x", cause="Connection refused")

    assert error_lines(error) == [
        "error[WL1101]: cannot reach the database at db.internal:5432.",
        "  Connection refused.",
        "  → Check that it runs and that WINDLASS_DATABASE_URL or --db is right, then `windlass doctor`.",
    ]


def test_wrong_settings_have_a_line_each():
    problems = [SettingProblem(f"worker.key_{n}", "0", "1 to 3", "argument") for n in range(2)]

    lines = error_lines(SettingsInvalid(problems))

    assert lines[1:3] == [f"  {problem}" for problem in problems]


def test_text_in_errors_cannot_control_the_terminal(capsys: pytest.CaptureFixture[str]):
    report(WindlassError("it says \x1b[2J.", reason="\x07"), Flags())

    assert capsys.readouterr().err == "error[WL1000]: it says \\x1b[2J.\n  \\x07\n"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (click.UsageError("Missing argument 'JOB'."), CommandInvalid),
        (click.ClickException("odd"), CommandInvalid),
        (RuntimeError("boom"), WindlassError),
        (RuntimeError(), WindlassError),
    ],
    ids=repr,
)
def test_a_foreign_error_reads_like_ours(error, kind):
    known = as_windlass_error(error)

    assert type(known) is kind
    assert known.message.endswith(".")
    assert known.hint
