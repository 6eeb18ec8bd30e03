"""`windlass top`: one frame without a terminal, a screen with keys at one."""

import io
import re
from datetime import timedelta

import pytest
from rich.console import Console

from tests.cli.run.test_serve import address
from tests.support.processes.shell import Shell
from windlass.cli.text.styles import took
from windlass.cli.top.drawing import foot, overview
from windlass.cli.top.keys import keys_in
from windlass.cli.top.readings import TopData
from windlass.cli.top.screen import KeyAction, Screen

IDS = ["first-job", "second-job", "third-job"]


def after(
    *keys: str, start: Screen | None = None, ids: list[str] = IDS
) -> tuple[Screen, list[KeyAction]]:
    screen, deeds = start or Screen(), []
    for key in keys:
        screen, deed = screen.pressed(key, ids)
        deeds += [deed] if deed else []
    return screen, deeds


def test_one_frame_needs_no_terminal(ready: Shell):
    ready.here("enqueue", "hello", "name=Ada")

    done = ready.ok("top", "--once")

    assert re.search(r"windlass\.db · ● live +0\.0/s +dead letter 0 +workers 0", done.out)
    assert re.search(r"^default +1 ", done.out, re.MULTILINE)
    assert "No worker is running" in done.out
    assert "○ Queued  hello" in done.out
    assert "\x1b" not in done.out


def test_a_frame_is_cut_to_the_width_it_has(ready: Shell):
    ready.here("enqueue", "hello", "name=Ada")

    narrow = ready.ok("top", "--once", COLUMNS="80").lines
    wide = ready.ok("top", "--once", COLUMNS="140").lines

    assert max(map(len, narrow)) <= 80
    assert not any("QUEUE" in line and "WORKER" in line for line in narrow)
    assert any("QUEUE" in line and "WORKER" in line for line in wide)


def test_programs_get_the_api_response(ready: Shell):
    ready.here("enqueue", "hello", "name=Ada")

    body = ready.here("top", "--once", "--json").json

    assert body["summary"]["queued"] == 1
    assert [job["definition"] for job in body["jobs"]] == ["hello"]
    assert [queue["name"] for queue in body["queues"]] == ["default"]


def test_without_a_terminal_it_suggests_once(ready: Shell):
    done = ready.run("top")

    assert done.code == 2
    assert "`windlass top --once`" in done.err


def test_an_invalid_filter_is_refused(ready: Shell):
    assert ready.run("top", "--once", "--where", "stat:queued").code == 2


def test_a_person_opens_a_job_sees_its_log_and_quits(ready: Shell):
    ready.here("enqueue", "hello", "name=Ada")

    done = ready.at_terminal("top", types="\rl?q")

    assert done.code == 0
    assert '{"name": "Ada"}' in done.out
    assert "No log lines." in done.out
    assert "these keys" in done.out


def test_a_person_quits(ready: Shell):
    done = ready.at_terminal("top", "--read-only", types="cq", width=80)

    assert done.code == 0
    assert "\x1b[?1049l" in done.out  # the screen from before is back


def test_a_person_cancels_a_job(ready: Shell):
    made = ready.here("enqueue", "hello", "name=Ada", "-o", "id").out.strip()

    done = ready.at_terminal("top", types="cyq")

    assert f"Cancel {made[-8:]}?" in done.out
    assert f"{made[-8:]} is canceled" in done.out
    assert ready.here("jobs", "show", made, "--json").json["state"] == "canceled"


def test_an_invalid_typed_filter_shows_an_error_and_the_list_stays(ready: Shell):
    ready.here("enqueue", "hello", "name=Ada")

    done = ready.at_terminal("top", types="/stat:queued\r/state:queued\rq")

    assert done.code == 0
    assert 'cannot be understood at character 1: "stat".' in done.out
    assert "JOBS" in done.out
    assert "state:queued" in done.out


def test_it_works_over_http(ready: Shell):
    server = ready.start("serve", "--no-auth", "--port", "0")
    ready.here("enqueue", "hello", "name=Ada")

    done = ready.ok("--url", address(server), "top", "--once", COLUMNS="120")

    assert "127.0.0.1" in done.lines[0]
    assert "hello" in done.out


def a_reading(**about) -> TopData:
    point = {"at": "2026-03-01T12:00:00.000000Z", "enqueued": 0, "completed": 0}
    worker = {
        "id": "vm:1:a", "slots": 4, "slots_used": 3, "age_seconds": 1.0, "stale": False,
        "liveness": "live", "wanted": "run", "doing": "run",
    }  # fmt: skip
    job = {
        "worker_id": "vm:1:a", "definition": "hello", "finished_at": None,
        "last_started_at": "2026-03-01T12:00:10.000000Z",
    }  # fmt: skip
    stats = {"points": [point], "until": "2026-03-01T12:02:15.500000Z", "p95_wait_seconds": None}
    summary = {"dead_letter": 0, "queues": []}
    fields = {
        "summary": summary, "queues": [], "workers": [worker], "stats": stats, "running": [job],
        "jobs": [], "rates": {}, "knows_running": True,
    }  # fmt: skip
    return TopData(**fields | about)


def drawn(reading: TopData, screen: Screen, height: int | None = None) -> str:
    console = Console(width=120, file=io.StringIO(), color_system=None)
    console.print(overview(reading, screen, "here", 120, height))
    return console.file.getvalue()


def test_used_slots_are_the_running_jobs_and_times_have_the_usual_format():
    fresh, one_tenants = a_reading(), a_reading(knows_running=False)

    assert "1/4" in drawn(fresh, Screen())
    assert "3/4" in drawn(one_tenants, Screen())
    for reading in (fresh, one_tenants):
        assert f"hello {took(timedelta(minutes=2, seconds=5))}" in drawn(reading, Screen())


@pytest.mark.parametrize(
    ("screen", "jobs", "told"),
    [
        (Screen(), True, "⏎:open  l:logs  r:retry  c:cancel  q:quit"),
        (Screen(), False, "/filter  q:quit"),
        (Screen(where="state:queued"), False, "/filter  esc:back  q:quit"),
        (Screen(read_only=True), True, "⏎:open  l:logs  q:quit"),
        (Screen(page="job", job="x"), True, "/filter  l:logs  r:retry  c:cancel  esc:back  q:quit"),
        (Screen(page="workers"), True, "/filter  esc:back  q:quit"),
    ],
)
def test_the_last_line_names_the_keys_of_the_page(screen, jobs, told):
    assert foot(screen, jobs=jobs).plain.endswith(told)


def test_one_frame_names_no_keys():
    assert ":help" not in drawn(a_reading(), Screen())
    assert ":help" in drawn(a_reading(), Screen(), height=20)


def test_the_cursor_stays_on_the_list():
    assert after("down", "j", "j", "j")[0].cursor == 2
    assert after("down", "up", "k")[0].cursor == 0
    assert after("down", ids=[])[0].cursor == 0
    assert after("down", ids=[])[0].chosen == ""


def test_the_cursor_stays_on_its_job_while_the_list_moves():
    chosen, _ = after("down")

    assert chosen.place(["new-job", *IDS]) == 2
    assert after("enter", start=chosen, ids=["new-job", *IDS])[0].job == "second-job"
    assert chosen.place(["another-job"]) == 0


def test_enter_opens_the_chosen_job_and_escape_goes_back():
    opened, deeds = after("down", "enter")

    assert (opened.page, opened.job, deeds) == ("job", "second-job", [KeyAction("look")])
    assert after("l", "esc", start=opened)[0].page == "job"
    assert after("esc", start=opened)[0] == after("down")[0]


def test_a_change_needs_a_yes():
    asked, nothing = after("r")

    assert (asked.asking, nothing) == (KeyAction("retry", "first-job"), [])
    assert after("y", start=asked)[1] == [KeyAction("retry", "first-job")]
    assert after("n", start=asked) == (Screen(), [])


def test_read_only_changes_nothing():
    screen, deeds = after("c", "y", start=Screen(read_only=True))

    assert deeds == []
    assert screen.asking is None


def test_a_filter_is_typed_and_cleared():
    typed, deeds = after("/", *"state:quq", "backspace", "enter")

    assert (typed.where, deeds) == ("state:qu", [KeyAction("look")])
    assert after("/", "x", "esc", start=typed)[0].where == "state:qu"
    assert after("esc", start=typed) == (Screen(), [KeyAction("look")])


@pytest.mark.parametrize(
    ("line", "page", "where"),
    [
        ("jobs state:dead_letter", "overview", "state:dead_letter"),
        ("jobs", "overview", ""),
        ("dead", "overview", "state:dead_letter"),
        ("dead definition:mail.*", "overview", "state:dead_letter definition:mail.*"),
        ("queues", "queues", "state:queued"),
        ("workers", "workers", "state:queued"),
    ],
)
def test_a_line_behind_a_colon_is_a_command(line, page, where):
    opened = after("enter", start=Screen(where="state:queued"))[0]

    screen, deeds = after(":", *line, "enter", start=opened)

    assert (screen.page, screen.where, screen.job) == (page, where, "")
    assert deeds == [KeyAction("look")]


def test_a_typed_command_quits_or_is_canceled_and_an_unknown_one_is_an_error():
    assert after(":", "q", "enter")[1] == [KeyAction("quit")]
    assert after(":", *"jobs x", "esc") == after(":", "enter")
    assert "No command :nope." in after(":", *"nope", "enter")[0].note
    assert after(":", *"queues", "enter", "c")[0].asking is None
    assert after(":", *"queues", "enter", "esc")[0].page == "overview"


def test_a_person_types_commands(ready: Shell):
    ready.here("enqueue", "hello", "name=Ada")

    done = ready.at_terminal("top", types=":queues\r:workers\r:jobs state:dead_letter\r:q\r")

    assert done.code == 0
    assert ":jobs state:dead_letter▏" in done.out
    assert "No worker is running" in done.out
    assert "No jobs match." in done.out


def test_a_second_pause_key_resumes():
    paused, _ = after("p")

    assert paused.paused
    assert after("p", start=paused) == (Screen(), [KeyAction("look")])


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("jk", ["j", "k"]),
        ("\x1b[A\x1b[B\x1bOA", ["up", "down", "up"]),
        ("\x1b", ["esc"]),
        ("\r\x7f", ["enter", "backspace"]),
        ("\x1b[15~q\x1b[1;5Cx", ["q", "x"]),
        ("ü\x01", ["ü"]),
    ],
)
def test_terminal_input_is_read_as_keys(text, keys):
    assert list(keys_in(text)) == keys
