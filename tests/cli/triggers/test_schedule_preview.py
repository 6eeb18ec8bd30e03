"""`windlass schedules preview`: words, dates and what may surprise, without a database."""

import pytest

from tests.support.processes.shell import Shell

NIGHTLY = ("schedules", "preview", "30 2 * * *", "--tz", "Europe/Berlin")
SPRING = ("--after", "2027-03-27T12:00")


def test_a_program_gets_words_runs_and_warnings(shell: Shell):
    done = shell.ok(*NIGHTLY, *SPRING, "--limit", "2", "--json")

    assert done.json["words"] == "every day at 02:30 (Europe/Berlin)"
    assert done.json["runs"] == [
        {
            "at": "2027-03-28T01:00:00Z",
            "local": "Sun 2027-03-28 03:00 CEST",
            "note": "in place of 02:30, which the clocks skip on this day",
        },
        {"at": "2027-03-29T00:30:00Z", "local": "Mon 2027-03-29 02:30 CEST", "note": ""},
    ]
    assert "02:30 is skipped" in done.json["warnings"][0]
    assert not (shell.folder / "windlass.db").exists()


def test_a_person_sees_zone_time_utc_and_the_gap(shell: Shell):
    shown = shell.at_terminal(*NIGHTLY, *SPRING, "--limit", "2", width=160).out

    assert "every day at 02:30 (Europe/Berlin)" in shown
    assert "Sun 2027-03-28 03:00 CEST" in shown
    assert "2027-03-29T00:30:00Z" in shown
    assert "23 h 30 min" in shown
    assert "the clocks in Europe/Berlin go forward" in shown


def test_without_flags_the_next_five_in_utc_are_shown(shell: Shell):
    done = shell.ok("schedules", "preview", "@hourly")

    header, *runs = done.lines
    assert header.split("\t") == ["local", "at", "in_seconds", "gap_seconds", "note"]
    assert len(runs) == 5
    assert all(0 < int(run.split("\t")[2]) <= 5 * 3600 for run in runs)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["0 2 31 2 *"], 'error[WL4403]: "0 2 31 2 *" never fires.'),
        (["61 * * * *"], 'error[WL4401]: "61 * * * *" is not a cron expression.'),
        (
            ["0 2 * * *", "--tz", "Europe/Berln"],
            'error[WL4402]: no time zone named "Europe/Berln".',
        ),
        (["0 2 * * *", "--after", "soon"], 'error[WL2007]: after cannot be "soon".'),
    ],
)
def test_an_invalid_expression_is_explained(shell: Shell, typed, said):
    done = shell.run("schedules", "preview", *typed)

    assert done.code == 2
    assert done.err.startswith(said)


def test_an_expression_that_never_fires_gets_a_suggestion_that_does(shell: Shell):
    done = shell.run("schedules", "preview", "0 2 31 2 *", "--tz", "Europe/Berlin")

    assert "February has no day 31." in done.err
    assert 'windlass schedules preview "0 2 28 2 *" --tz Europe/Berlin' in done.err


def test_a_preview_of_an_interval_shows_the_runs_that_a_dedupe_window_drops(shell: Shell):
    done = shell.ok("schedules", "preview", "--every", "15m", "--dedupe-window", "1h", "--json")
    neither = shell.run("schedules", "preview")

    assert (done.json["words"], len(done.json["runs"])) == ("every 15 minutes", 5)
    assert ["swallowed" in warning for warning in done.json["warnings"]] == [True]
    assert (neither.code, "needs one schedule" in neither.err) == (2, True)
