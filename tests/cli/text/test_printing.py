"""Only the printing module writes to terminals, and it escapes text."""

import ast
import csv
import io
import json
import re
from pathlib import Path

import pytest

import windlass.cli
from tests.support.processes.shell import Shell
from windlass.cli.framework.flags import Flags
from windlass.cli.text.output import Column, Output
from windlass.cli.text.printing import console, paint, visible
from windlass.core.text import storable
from windlass.errors.wording import printable

ESCAPES = "\x1b[31m\x1b]52;c;aGk=\x07\x9b2J\r\n\t\u202e\u2028"
#: Modules of the command line that may write: the sink, and completion, which a shell reads.
WRITERS = {"printing.py", "completion.py"}
WRITING = {
    *("print", "click.echo", "click.secho", "click.style", "click.prompt", "click.confirm"),
    *("sys.stdout.write", "sys.stderr.write", "traceback.print_exception", "traceback.print_exc"),
    *("Console", "rich.print", "rich.console.Console", "csv.writer"),
}


def test_only_the_sink_writes():
    found = [
        f"{file.name}:{call.lineno} {ast.unparse(call.func)}"
        for file in Path(windlass.cli.__path__[0]).rglob("*.py")
        if file.name not in WRITERS
        for call in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) in WRITING
    ]

    # Help of click's own, and a table that is written to memory first.
    assert sorted(line.partition(":")[0] for line in found) == ["main.py", "output.py"]


def test_colour_escapes_come_only_from_paint():
    line = visible(f"{paint(f'a{ESCAPES}', 'red')} {ESCAPES}")

    assert line == f"\x1b[31ma{printable(ESCAPES)}\x1b[0m {printable(ESCAPES)}"


def test_colour_within_colour_stays():
    line = visible(paint(f"a {paint('b', 'red')} c", dim=True))

    assert line == "\x1b[2ma \x1b[31mb\x1b[0m c\x1b[0m"


def test_a_table_shows_markup_and_escapes_as_text(capsys: pytest.CaptureFixture[str]):
    from rich.text import Text

    console(colored=False).print(Text(f"[red]x[/] :smile: {ESCAPES}|"), "[link=http://x]y[/]")

    shown = capsys.readouterr().out
    assert "[red]x[/] :smile:" in shown
    assert "[link=http://x]y[/]" in shown
    assert [line for line in shown.split("\n") if printable(line) != line] == []


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(1)", "'@SUM(1)"),
        ("  =1", "'  =1"),
        ('"=1', "'\"=1"),
        ("'=1", "''=1"),
        ("＝1", "'＝1"),
        ("\t=1", r"'\t=1"),
        ("\r=1", r"'\r=1"),
        ("a\nb", r"a\nb"),
        ("a,b", "a,b"),
        ("plain = text", "plain = text"),
        (-5, "-5"),
        (-1.5, "-1.5"),
        (None, ""),
        ({"a": "=1\x9b"}, '{"a": "=1\\u009b"}'),
    ],
)
def test_a_cell_of_csv_is_one_line_and_no_formula(
    capsys: pytest.CaptureFixture[str], value: object, cell: str
):
    Output(Flags(output="csv")).list([{"a": value, "b": 1}], [Column("a"), Column("b")])

    assert list(csv.reader(io.StringIO(capsys.readouterr().out))) == [["a", "b"], [cell, "1"]]


def test_tab_separated_values_read_back_equal(capsys: pytest.CaptureFixture[str]):
    Output(Flags(output="table")).list([{"a": f"\\n {ESCAPES}"}], [Column("a")])

    _, line = capsys.readouterr().out.splitlines()
    # Escapes are Python's, and a backslash is doubled.
    assert line.encode().decode("unicode_escape") == f"\\n {ESCAPES}"


HANDLER = f"""
import logging
from windlass import JobContext, Windlass

wl = Windlass()

@wl.job(max_attempts=1)
def hostile(ctx: JobContext) -> None:
    text = {storable(ESCAPES)!a} + "forged"
    ctx.log.warning(text, field=text, values=[text], **{{"name" + text: 1}})
    logging.getLogger("lib").warning("%s", text)
    try:
        raise ValueError(text)
    except ValueError:
        logging.getLogger("lib").exception("it failed")
    ctx.progress(0.5, text)
    raise ValueError(text)
"""


@pytest.mark.parametrize("command", ["worker", "dev"])
def test_a_handlers_log_cannot_control_the_terminal(shell: Shell, command: str):
    shell.write("hostile.py", HANDLER)
    options = ["-v", "--no-auth", "--no-reload"] if command == "dev" else ["-v"]
    shell.here("db", "migrate")
    seated = shell.sit_at(command, "hostile.py", *options, NO_COLOR="1")
    seated.sees("Running hostile|Keys ")
    shell.here("enqueue", "hostile")

    text = seated.sees("ead.letter|dead-lettered|ValueError")
    seated.interrupt(lambda: seated.process.poll() is not None)

    lines = seated.text.split("\n")
    assert printable(ESCAPES) in text
    assert [line for line in lines if printable(line) != line or line.startswith("forged")] == []


def test_a_handler_of_a_program_without_logging_cannot_control_its_terminal(shell: Shell):
    shell.write("alone.py", _ALONE)

    done = shell.python("alone.py")

    lines = done.out.split("\n")
    assert printable(ESCAPES) in done.out
    assert [line for line in lines if printable(_without_color(line)) != _without_color(line)] == []
    assert [line for line in lines if line.startswith("forged")] == []


def test_a_hint_quotes_names_for_the_shell(shell: Shell):
    shell.here("db", "migrate")
    shell.here("queues", "pause", "x;reboot")

    done = shell.at_terminal("queues", "show", "x;reboot")

    assert "windlass queues resume 'x;reboot'" in done.out


def test_a_context_has_a_name_that_prints(shell: Shell):
    done = shell.run("config", "contexts", "add", "a\x1b[2J", "--db", "sqlite:///x.db")

    assert (done.code, done.err.splitlines()[0]) == (
        2,
        r'error[WL2007]: context cannot be "a\u001b[2J".',
    )


def _without_color(line: str) -> str:
    return re.sub(r"\x1b\[\d+m", "", line)


_ALONE = f"""
from types import SimpleNamespace
from windlass.telemetry import Telemetry

text = {ESCAPES!a} + "forged"
lease = SimpleNamespace(job_id="j", tenant=text, definition="d", token=1, correlation_id=text)
Telemetry().said(lease, "warn", text, {{"field": text, "values": [text]}})
"""


def test_a_log_for_programs_is_json_without_raw_characters(shell: Shell):
    shell.write("hostile.py", HANDLER)
    shell.here("db", "migrate")
    shell.here("definitions", "sync", "hostile.py")
    shell.here("enqueue", "hostile")

    done = shell.ok("worker", "hostile.py", "--drain")

    lines = [line for line in done.err.splitlines() if line.startswith("{")]
    assert [line for line in lines if printable(line) != line] == []
    assert any(json.loads(line).get("field") == f"{ESCAPES}forged" for line in lines)
