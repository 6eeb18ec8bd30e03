"""Runs one question on a stage, and prints its result."""

import os
import platform
import sqlite3
from importlib import import_module
from importlib.metadata import version

from benchmarks.findings import Answer, Finding
from benchmarks.questions import NAMES
from benchmarks.stage import Stage


def ask(name: str, stage: Stage) -> Answer:
    """The answer to the question of that name."""
    if name not in NAMES:
        raise SystemExit(f"no question {name!r}; there are {', '.join(NAMES)}")
    question = import_module(f"benchmarks.questions.{name}")
    try:
        findings = question.ask(stage)
    finally:
        stage.clear()
    return Answer(
        question=question.QUESTION,
        name=name,
        findings=findings,
        notes=tuple(stage.peers.missing),
        versions={
            "Windlass": version("windlass"),
            "Python": platform.python_version(),
            "SQLite": sqlite3.sqlite_version,
            **stage.versions(),
        },
        cores=os.cpu_count() or 0,
    )


def told(answer: Answer) -> str:
    """The answer in words, a line for each finding."""
    lines = [answer.question, *[f"  {_line(finding)}" for finding in answer.findings]]
    return "\n".join([*lines, *[f"  {note}" for note in answer.notes]])


def _line(finding: Finding) -> str:
    goal = f"{finding.goal} " if finding.goal else ""
    if finding.ratio is None:
        return f"{goal}{finding.measure}: {finding.ours} {finding.unit}"
    return f"{goal}{finding.measure} ÷ {finding.other}: {finding.ratio}"
