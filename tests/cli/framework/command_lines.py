"""A command line for every command, and a database with something for each command."""

import shlex
from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import NamedTuple

from tests.support.processes.shell import JOBS, Shell


class Line(NamedTuple):
    """The arguments of a command. `{job}` and the like stand for an existing thing, a different one
    each time.

    `answer` is a person's response to a question. `local` commands need no database or server, or
    only direct access to a database.
    """

    args: str = ""
    answer: str = ""
    local: bool = False
    code: int = 0


#: Where commands that go on until they are stopped, or need what is not there, are tried.
ELSEWHERE: Mapping[str, str] = {
    "dev": "test_dev.py, test_endings.py",
    "serve": "test_serve.py, test_endings.py",
    "login": "test_tokens.py",
    "logout": "test_tokens.py",
    "events tail": "test_triggers.py",
    "logs tail": "test_logs.py",
    "db secure": "test_db.py",
    "db reencrypt": "test_db.py",
    "audit sign": "test_audit.py",
}

#: Command -> its line, in an order in which all of them work.
LINES: Mapping[str, Line] = {
    "version": Line(local=True),
    "explain": Line("WL1101", local=True),
    "completion": Line("powershell", local=True),
    "init": Line("new", local=True),
    "config show": Line("--origin", local=True),
    "config get": Line("worker.concurrency", local=True),
    "config set": Line("worker.concurrency 3", local=True),
    "config contexts add": Line("there --db sqlite:///there.db", local=True),
    "config contexts": Line(local=True),
    "config use": Line("here", local=True),
    "config contexts remove": Line("here", local=True),
    "config generate-key": Line(local=True),
    "db status": Line(local=True),
    "db sql": Line(local=True),
    "db check": Line(local=True),
    "whoami": Line(),
    "top": Line("--once"),
    "doctor": Line(),
    "definitions sync": Line("more.py", local=True),
    "definitions list": Line(),
    "definitions show": Line("hello"),
    "definitions schema": Line("hello"),
    "definitions run": Line("hello name=Ada"),
    "definitions disable": Line("hello"),
    "definitions enable": Line("hello"),
    "definitions limits": Line("hello --max-concurrency 3"),
    "definitions reset": Line("hello"),
    "definitions create": Line("new.one --remote"),
    "definitions edit": Line("made --queue other"),
    "definitions delete": Line("made", answer="y\n"),
    "enqueue": Line("hello name=Ada"),
    "jobs enqueue": Line("hello name=Ada --in 1h"),
    "jobs list": Line(),
    "jobs show": Line("{job}"),
    "jobs attempts": Line("{dead}"),
    "jobs history": Line("{dead}"),
    "jobs logs": Line("{dead}"),
    "jobs graph": Line("{job}"),
    "jobs explain": Line("{job}"),
    "jobs export": Line(),
    "jobs wait": Line("{done}"),
    "jobs reveal": Line("{done}", answer="y\n"),
    "jobs clone": Line("{job}"),
    "jobs update": Line("{job} --priority high"),
    "jobs run-now": Line("{job}"),
    "jobs cancel": Line("{job} {job}", answer="y\n"),
    "jobs retry": Line("{dead}"),
    "jobs delete": Line("{dead}", answer="y\n"),
    "dead list": Line(),
    "dead groups": Line(),
    "dead show": Line("{dead}"),
    "dead mute": Line("{group} --for 7d"),
    "dead unmute": Line("{group}"),
    "dead retry": Line("{dead}"),
    "dead edit-retry": Line("{dead} why=other", answer="y\n"),
    "dead discard": Line("{dead}", answer="y\n"),
    "schedules preview": Line("'0 2 * * *'", local=True),
    "schedules create": Line("--name nightly --definition fail --cron '0 2 * * *'"),
    "schedules list": Line(),
    "schedules show": Line("hourly"),
    "schedules update": Line("hourly --cron '5 2 * * *'"),
    "schedules run": Line("hourly"),
    "schedules disable": Line("hourly"),
    "schedules enable": Line("hourly"),
    "schedules reset": Line("declared"),
    "schedules delete": Line("hourly", answer="y\n"),
    "triggers create": Line("--name again --definition fail --event a.b"),
    "triggers list": Line(),
    "triggers show": Line("seen"),
    "triggers test": Line("seen a=1"),
    "triggers update": Line("seen --event c.d"),
    "triggers disable": Line("seen"),
    "triggers enable": Line("seen"),
    "triggers reset": Line("declared"),
    "triggers delete": Line("seen", answer="y\n"),
    "events emit": Line("some.thing a=1"),
    "events list": Line(),
    "events show": Line("{event}"),
    "events replay": Line("{event}"),
    "queues list": Line(),
    "queues show": Line("default"),
    "queues pause": Line("default --reason quiet"),
    "queues resume": Line("default"),
    "queues limits": Line("default --max-concurrency 4"),
    "queues move": Line("default --to bulk", answer="default\n"),
    "queues purge": Line("bulk", answer="bulk\n"),
    "workers list": Line(),
    "workers show": Line("{worker}"),
    "workers drain": Line("{worker}"),
    "workers resume": Line("{worker}"),
    "workers stop": Line("{worker} --wait", answer="y\n"),
    "worker": Line("jobs.py --drain", local=True),
    "scheduler": Line("--once", local=True),
    "logs search": Line("waiting"),
    "tenants create": Line("globex --name Globex"),
    "tenants list": Line(),
    "tenants show": Line("acme"),
    "tenants change": Line("acme --name 'Acme Corp'"),
    "tenants limits": Line("acme --max-open 5"),
    "tenants suspend": Line("acme", answer="y\n"),
    "tenants resume": Line("acme"),
    "users create": Line("edsger"),
    "users invite": Line("barbara"),
    "users link": Line("lin"),
    "users list": Line(),
    "members invite": Line("ada -t acme"),
    "members list": Line("-t acme"),
    "members role": Line("ada tenant_admin -t acme"),
    "members remove": Line("ada -t acme", answer="y\n"),
    "tenants delete": Line("acme", answer="y\n"),
    "tokens create": Line("deploy --role superadmin"),
    "tokens list": Line(),
    "tokens revoke": Line("shop", answer="y\n"),
    "audit list": Line(),
    "audit verify": Line(),
    "audit head": Line(),
    # They end the worker that runs meanwhile.
    "db downgrade": Line("--to 0", answer="y\n", local=True),
    "db migrate": Line(local=True),
    "db new-epoch": Line(answer="y\n", local=True),
}

#: Code of another program, with a schedule that can be reset to what it says.
_MORE = """
from windlass import Windlass, cron

wl = Windlass()

@wl.job(schedule=cron("0 4 * * *"))
def declared() -> None: ...
"""
_MANY = 8
_MADE = (
    "events emit some.thing a=1",
    "schedules create --name hourly --definition fail --cron '0 * * * *'",
    "triggers create --name seen --definition fail --event a.b",
    "tenants create acme",
    "members invite ada -t acme",
    "users create lin",
    "tokens create shop --role worker",
    "config contexts add here --db sqlite:///windlass.db",
)


class There(dict[str, Iterator[str]]):
    """Existing things by kind; each read takes the next one."""

    def __getitem__(self, kind: str) -> str:  # type: ignore[override]  # one, not all
        return next(super().__getitem__(kind))


def furnish(shell: Shell) -> There:
    """Put some of everything except a worker into a shell's database."""
    shell.write("jobs.py", JOBS)
    shell.write("more.py", _MORE)
    shell.here("db", "migrate")
    shell.here("definitions", "sync", "jobs.py", "more.py")
    shell.here("definitions", "create", "made", "--remote")
    for _ in range(_MANY):
        shell.here("enqueue", "fail")
    shell.here("enqueue", "hello", "name=Ada")
    shell.ok("worker", "jobs.py", "--drain")
    for _ in range(_MANY):
        shell.here("enqueue", "hello", "name=Ada", "--in", "2h")
    for line in _MADE:
        shell.here(*shlex.split(line))
    kinds = {
        "job": ("jobs", "list", "--state", "scheduled"),
        "done": ("jobs", "list", "--state", "completed"),
        "dead": ("dead", "list"),
        "group": ("dead", "groups"),
        "event": ("events", "list"),
    }
    return There({kind: cycle(shell.here(*at, "-o", "id").lines) for kind, at in kinds.items()})
