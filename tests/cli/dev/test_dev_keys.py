"""`windlass dev` at a terminal: its keys, and the restored terminal."""

import os
import signal
import sys
import termios
import time
from pathlib import Path

from tests.support.processes.shell import JOBS, Seated, Shell

KEYS = "o open · e enqueue · t top · c clear · q quit"
#: A browser for tests: writes the address it should open to a file.
BROWSER = f"{sys.executable} -c \"import sys; open('opened', 'a').write(sys.argv[1] + '\\n')\" %s"


def seated(shell: Shell, *args: str, **env: str) -> Seated:
    dev = shell.sit_at("dev", *args, **env)
    dev.sees(r"^  .*Keys")
    return dev


def echoes(dev: Seated) -> bool:
    return bool(dev.modes()[3] & termios.ECHO)


def opened(shell: Shell, count: int) -> list[str]:
    file = shell.folder / "opened"
    for _ in range(1200):
        if file.exists() and len(found := file.read_text("utf-8").split()) >= count:
            return found
        time.sleep(0.05)
    raise AssertionError("nothing was opened")


def test_the_greeting_lists_the_keys_and_q_quits_like_ctrl_c(ready: Shell):
    dev = seated(ready)

    assert KEYS in dev.text
    dev.types("q")

    assert dev.ends() == 0
    dev.sees("Stopping.")


def test_without_a_terminal_there_are_no_keys(ready: Shell):
    dev = ready.start("dev")
    text = dev.sees(r"^  Reload +save a file")

    assert "Keys" not in text
    assert "Ctrl-C" not in text
    dev.stop()
    assert dev.ends() == 0


def test_the_terminal_is_restored_however_dev_ends(ready: Shell):
    for ending in ("q", "\x03", signal.SIGTERM):
        dev = ready.sit_at("dev")
        dev.sees(r"^  .*Keys")
        dev.types("?")
        dev.sees("clear the screen")
        while_it_runs = echoes(dev)

        dev.types(ending) if isinstance(ending, str) else dev.stop(ending)

        assert dev.ends() == 0
        assert (while_it_runs, dev.modes()) == (False, dev.modes_before)


def test_running_jobs_finish_before_q_ends_it_and_a_second_q_hands_them_back(ready: Shell):
    dev = seated(ready)
    ready.here("enqueue", "wait_for", "file=gate")
    dev.sees("started.*wait_for")

    dev.types("q")
    dev.sees("Letting 1 running job finish")
    dev.types("q")

    assert dev.ends() == 0
    assert "handed back" in dev.text


def test_keys_outlive_a_reload_and_code_that_cannot_be_imported(ready: Shell):
    dev = seated(ready)

    ready.write("jobs.py", JOBS + "\n# saved\n")
    dev.sees("Reloading: jobs.py saved.")
    dev.types("h")
    dev.sees("clear the screen")
    ready.write("jobs.py", "def (")
    dev.sees("Waiting for the next save. The previous code keeps running.")
    dev.types("q")

    assert dev.ends() == 0


def test_keys_work_while_no_code_could_be_imported_yet(shell: Shell):
    shell.write("jobs.py", "def (")
    dev = shell.sit_at("dev", "jobs.py")
    dev.sees("Waiting for the next save. No job runs meanwhile.")

    dev.types("t")
    dev.sees("No code runs yet")
    dev.types("q")

    assert dev.ends() == 0


def test_e_and_one_more_enter_enqueue_the_example(ready: Shell):
    dev = seated(ready)

    dev.types("e")
    dev.sees(r"Enqueue \[hello name=Ada\]: ")
    dev.types("\n")

    dev.sees(r"completed.*hello")
    dev.types("q")
    assert dev.ends() == 0


def test_e_enqueues_the_typed_line_and_shows_its_errors(ready: Shell):
    dev = seated(ready)

    dev.types("e")
    dev.sees("Enqueue")
    dev.types("count number=4 factor=2\n")
    dev.sees(r"completed.*count.* 8")
    dev.types("e")
    dev.sees("Enqueue", times=2)
    dev.types("helo name=Ada\n")
    dev.sees(r"error\[WL2107\]:.* no definition named")
    dev.types("e")
    dev.sees("Enqueue", times=3)
    # Cancels the prompt, not dev.
    dev.interrupt(lambda: "Nothing is enqueued." in dev.text)

    dev.types("q")
    assert dev.ends() == 0


def test_lines_wait_while_a_question_is_open(ready: Shell):
    dev = seated(ready)
    dev.types("e")
    dev.sees("Enqueue")

    ready.ok("enqueue", "hello", "name=Grace", "--wait")
    assert "Hello, Grace!" not in dev.text
    dev.interrupt(lambda: "Hello, Grace!" in dev.text)

    dev.types("q")
    assert dev.ends() == 0


def test_t_shows_top_on_the_same_database_and_returns_to_dev(ready: Shell):
    dev = seated(ready, "--db", "sqlite:///own.db")

    dev.types("t")
    dev.sees(r"\?1049h")
    dev.sees(r"own\.db")
    ready.write("jobs.py", JOBS + "\n# saved meanwhile\n")
    ready.ok("--db", "sqlite:///own.db", "enqueue", "hello", "name=Grace", "--wait")
    assert "Reloading" not in dev.text
    dev.types("q")

    dev.sees(r"\?1049l[\s\S]*Reloading")
    dev.types("q")
    assert dev.ends() == 0


def test_a_signal_while_top_has_the_terminal_ends_both_and_restores_the_terminal(
    ready: Shell,
):
    dev = ready.sit_at("dev")
    dev.sees(r"^  .*Keys")
    dev.types("t")
    dev.sees(r"\?1049h")

    dev.stop()

    assert dev.ends() == 0
    dev.sees(r"\?1049l")
    assert dev.modes() == dev.modes_before


def test_c_clears_the_screen(ready: Shell):
    dev = seated(ready)

    dev.types("c")

    dev.sees(r"\x1b\[2J")
    dev.types("q")
    assert dev.ends() == 0


def test_o_opens_the_page_by_a_new_link_each_time(ready: Shell):
    dev = seated(ready, BROWSER=BROWSER)

    dev.types("o")
    first = opened(ready, 1)
    dev.types("o")
    links = opened(ready, 2)

    assert first[0] == links[0]
    assert all("/?key=wlk_" in link for link in links)
    assert len(set(links)) == 2
    assert not any(link in dev.text for link in links)
    dev.types("q")
    assert dev.ends() == 0


def test_if_no_browser_starts_the_address_is_shown(ready: Shell):
    dev = seated(ready, "--no-auth", BROWSER="false %s")

    dev.types("o")

    dev.sees(r"No browser could be started. Open it yourself: http://127.0.0.1:\d+")
    dev.types("q")
    assert dev.ends() == 0


def test_open_opens_the_page_when_ready_also_without_a_terminal(ready: Shell):
    dev = ready.start("dev", "--open", "--no-reload", "--no-auth", BROWSER=BROWSER)

    (page,) = opened(ready, 1)

    assert page in dev.sees(r"^  Jobs")
    assert "Keys" not in dev.text
    assert "Reload" not in dev.text
    dev.stop()
    assert dev.ends() == 0


def test_a_closed_terminal_ends_it_and_running_jobs_finish(ready: Shell):
    dev = seated(ready)
    id = ready.here("enqueue", "wait_for", "file=gate").out.strip()
    dev.sees("started.*wait_for")

    dev.hang_up()
    ready.write("gate", "open")

    assert dev.ends() == 0
    assert ready.here("jobs", "show", id, "--json").json["state"] == "completed"


def test_in_the_background_it_neither_stops_nor_reads_and_comes_back_with_its_keys(ready: Shell):
    bash = ready.sit_at("--norc", "--noprofile", "-i", command=["bash"], PS1="$ ")
    command = f"{sys.executable} -m windlass.cli dev"

    bash.types(f"{command} &\n")
    bash.sees(r"^  .*Keys")
    bash.types("echo qo${PATH:+n}e\n")  # these are the shell's
    bash.sees("qone")
    ready.ok("enqueue", "hello", "name=Ada", "--wait", "--timeout", "30s")
    bash.types("jobs\n")
    bash.sees(r"Running +.*windlass.cli dev")
    bash.types("fg\n")
    bash.sees(r"windlass.cli dev$")
    _until_it_hears(bash)
    bash.types("\x1a")
    bash.sees("Stopped")
    bash.types("fg\n")
    _until_it_hears(bash)
    bash.types("q")
    bash.sees("Stopping.")
    while os.tcgetpgrp(bash.terminal) != bash.process.pid:
        time.sleep(0.05)
    bash.types("echo ended=$?\n")

    bash.sees("ended=0")
    bash.types("exit\n")
    bash.ends()


def _until_it_hears(bash: Seated) -> None:
    """Wait until dev responds to keys: input before it has the terminal may be lost."""
    seen = bash.text.count("clear the screen")
    for _ in range(600):
        bash.types("h")
        time.sleep(0.1)
        if bash.text.count("clear the screen") > seen:
            return
    raise AssertionError(bash.text)


def test_a_program_that_had_the_terminal_leaves_no_process(ready: Shell):
    dev = seated(ready)
    dev.types("t")
    dev.sees(r"\?1049h")
    top = [
        int(pid)
        for pid in Path(f"/proc/{dev.process.pid}/task/{dev.process.pid}/children")
        .read_text("ascii")
        .split()
    ]

    dev.types("\x03")
    dev.sees(r"\?1049l")
    dev.types("q")

    assert dev.ends() == 0
    assert len(top) == 2
    assert not any(os.path.exists(f"/proc/{pid}") for pid in top)
