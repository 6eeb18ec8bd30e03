"""Decides what the end of a remote worker's attempt means for its job, by what our rows say."""

from collections import OrderedDict
from dataclasses import replace
from random import Random

from windlass.core.definitions.backoff import Backoff
from windlass.core.definitions.definition import Definition
from windlass.core.jobs import outcome
from windlass.core.jobs.models import ALL_TENANTS
from windlass.core.jobs.outcome import AttemptEnd, Failure
from windlass.core.jobs.states import Outcome
from windlass.core.leases.lease import LeasedJob, LeaseRef
from windlass.core.leases.worker_wire import AttemptReport
from windlass.core.payloads.json_text import load_json
from windlass.core.payloads.known_secrets import KnownSecrets
from windlass.core.payloads.redact import Redactor
from windlass.core.payloads.result import RESULT_LIMIT, encode_anything, encode_result
from windlass.core.payloads.schema_marks import marking_schema
from windlass.core.text import clean
from windlass.engine.definitions.definitions import Definitions
from windlass.engine.jobs.payload_encryption import Sealer
from windlass.engine.leases.default_backoff import default_backoff
from windlass.engine.redaction import run_in_thread_if_long
from windlass.errors import DefinitionNotFound, ResultInvalid, ResultTooLarge
from windlass.settings import Settings
from windlass.storage.storage import Storage

#: Of so many leases the secrets are remembered while their workers tell of them.
_MOST_KNOWN = 1000


class RemoteOutcomeResolver:
    """A worker tells what happened; retry or dead letter is not for it to say."""

    def __init__(
        self,
        storage: Storage,
        definitions: Definitions,
        settings: Settings,
        redactor: Redactor,
        sealer: Sealer,
    ) -> None:
        self._sealer = sealer
        self._known: OrderedDict[LeaseRef, KnownSecrets] = OrderedDict()
        self._storage = storage
        self._definitions = definitions
        self._settings = settings
        self._redactor = redactor
        self._random = Random()

    async def resolve(self, end: AttemptReport, leased: LeasedJob) -> AttemptEnd:
        """The end of an attempt, and where its job goes."""
        row = await self.row(leased.definition)
        end = await self._without_secrets(end, row)
        finish = self._end(end, leased, row)
        return finish._replace(
            pid=end.pid,
            exit_code=end.exit_code,
            stdout_tail=end.stdout_tail,
            stderr_tail=end.stderr_tail,
        )

    async def row(self, key: str) -> Definition | None:
        """The row of a definition, if there is one."""
        try:
            return await self._definitions.get(key)
        except DefinitionNotFound:
            return None

    async def secrets_of(self, held: LeaseRef, row: Definition | None) -> KnownSecrets:
        """The secret values of a job's payload, to be hidden in what its worker tells."""
        if (known := self._known.get(held)) is not None:
            return known
        job = await self._storage.jobs.get(ALL_TENANTS, held.job_id)
        payload = None if job is None else self._sealer.open_if_possible(job).payload
        schema = None if row is None else marking_schema(row.payload_schema)

        def find() -> KnownSecrets:
            return KnownSecrets(self._redactor.secrets_in(payload, schema))

        found = self._known[held] = await run_in_thread_if_long(find, payload)
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return found

    def _end(self, end: AttemptReport, leased: LeasedJob, row: Definition | None) -> AttemptEnd:
        keep = row is None or row.retention_days != 0
        match end.outcome:
            case Outcome.SUCCEEDED:
                try:
                    result, note = self._encoded(end.result)
                except (ResultInvalid, ResultTooLarge) as refused:
                    return self._failed(_unstorable_result(end, refused), leased, row)
                warnings = [*end.warnings, *([note] if note else [])]
                return outcome.success(
                    end.held,
                    result=result,
                    warnings=encode_anything(warnings, RESULT_LIMIT)[0] if warnings else None,
                    keep=keep,
                )
            case Outcome.RELEASED:
                return outcome.released(end.held, delay=end.delay)
            case Outcome.CANCELED:
                return outcome.stopped(end.held, keep=keep)
            case Outcome.FAILED | Outcome.TIMED_OUT | Outcome.LOST:
                return self._failed(end, leased, row)

    def _encoded(self, result: object) -> tuple[str | None, str | None]:
        if result is None:
            return None, None
        return encode_result(result, self._settings.limits.result_bytes)

    def _failed(self, end: AttemptReport, leased: LeasedJob, row: Definition | None) -> AttemptEnd:
        limit = self._settings.limits.error_bytes
        failure = Failure(
            error=clean(end.error or "the worker did not say why", limit),
            error_type=end.error_type or "Failed",
            trace=None if end.error_trace is None else clean(end.error_trace, limit),
            outcome=end.outcome,
            permanent=end.permanent,
        )
        verdict = outcome.judge(
            failure,
            attempts=leased.attempts,
            max_attempts=leased.max_attempts,
            backoff=self._backoff(row),
            random=self._random,
        )
        return outcome.failed(end.held, failure, verdict)

    def _backoff(self, row: Definition | None) -> Backoff:
        if row is None or row.backoff is None:
            return default_backoff(self._settings)
        return Backoff.from_json(load_json(row.backoff))

    async def _without_secrets(self, end: AttemptReport, row: Definition | None) -> AttemptReport:
        texts = (end.error, end.error_trace, end.stdout_tail, end.stderr_tail)
        if texts == (None, None, None, None):
            return end
        secrets = await self.secrets_of(end.held, row)

        def hide() -> list[str | None]:
            return [
                None if text is None else self._redactor.redact_text(text, secrets)
                for text in texts
            ]

        error, trace, stdout, stderr = await run_in_thread_if_long(hide, *texts)
        return replace(end, error=error, error_trace=trace, stdout_tail=stdout, stderr_tail=stderr)


def _unstorable_result(end: AttemptReport, error: ResultInvalid | ResultTooLarge) -> AttemptReport:
    """An attempt that returned what cannot be stored. To try again would do the work again."""
    return replace(
        end,
        outcome=Outcome.FAILED,
        result=None,
        error=str(error),
        error_type=type(error).__name__,
        permanent=True,
    )
