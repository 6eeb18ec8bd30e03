"""Which of a test's jobs was meant, and how jobs are told when it was none."""

from collections.abc import Mapping, Sequence
from typing import Any

from windlass.app.declared import Declared
from windlass.core.jobs.models import Job
from windlass.core.payloads.json_text import dump_json
from windlass.errors import PayloadInvalid
from windlass.worker.handlers import Handlers

_MOST_LISTED = 20


class ExpectedJob:
    """A definition and some of the arguments its job should have."""

    def __init__(
        self, job: Declared[..., Any] | str, arguments: Mapping[str, Any], handlers: Handlers
    ) -> None:
        self._key = job.key if isinstance(job, Declared) else job
        self._arguments = arguments
        self._handler = handlers.get(self._key)

    def matches(self, job: Job) -> bool:
        """Whether it is such a job. Values may be given as the handler gets them, or as JSON."""
        if job.definition != self._key:
            return False
        plain, typed = job.payload, self._typed(job)
        return all(
            (name in typed and typed[name] == value) or (name in plain and plain[name] == value)
            for name, value in self._arguments.items()
        )

    def __str__(self) -> str:
        return _call(self._key, self._arguments)

    def _typed(self, job: Job) -> Mapping[str, Any]:
        if self._handler is None:
            return {}
        payload = self._handler.payload
        defaults = {field.name: field.default for field in payload.signature.fields}
        try:
            return {**defaults, **payload.decode(dump_json(job.payload))}
        except PayloadInvalid:  # stored by key, or before the signature changed in this test
            return {}


def job_list_text(jobs: Sequence[Job]) -> str:
    """Jobs for people, the first few of them."""
    if not jobs:
        return "Nothing was enqueued."
    lines = [f"  {_call(job.definition, job.payload)}  {job.state}" for job in jobs[:_MOST_LISTED]]
    if len(jobs) > _MOST_LISTED:
        lines.append(f"  … and {len(jobs) - _MOST_LISTED:,} more")
    return "\n".join(["Enqueued:", *lines])


def _call(key: str, arguments: Mapping[str, Any]) -> str:
    return f"{key}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"
