"""OpenTelemetry: one trace from the code that enqueues a job to each of its attempts.

    from windlass.integrations import otel

    otel.install(wl)

The context travels in the job's metadata as W3C `traceparent` and `tracestate`. The program
provides SDK and exporter; without them no span is exported, and only the context is passed on.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace
from typing import Any

from windlass.app.sync import Windlass as Blocking
from windlass.app.windlass import Windlass
from windlass.core.jobs.models import NewJob
from windlass.core.payloads.json_text import dump_json, load_json
from windlass.errors import ExtraMissing
from windlass.worker.context import JobContext


def install(app: Windlass | Blocking, *, provider: Any = None) -> None:
    """Trace every enqueue and every attempt of an app.

    `provider` is a TracerProvider, by default the program's own. Raises ExtraMissing if
    OpenTelemetry is not installed. Call it once.
    """
    api = _api()
    tracer = api.trace.get_tracer("windlass", tracer_provider=provider)
    propagator = api.propagator()

    @contextmanager
    def enqueued(jobs: Sequence[NewJob]) -> Iterator[Sequence[NewJob]]:
        definitions = sorted({job.definition for job in jobs})
        with tracer.start_as_current_span(
            f"enqueue {definitions[0] if len(definitions) == 1 else 'jobs'}",
            kind=api.trace.SpanKind.PRODUCER,
            attributes=_enqueue_attributes(jobs),
        ):
            context: dict[str, str] = {}
            propagator.inject(context)
            yield [_with_trace_context(job, context) for job in jobs] if context else jobs

    @asynccontextmanager
    async def attempted(ctx: JobContext) -> AsyncIterator[None]:
        with tracer.start_as_current_span(
            f"attempt {ctx.job.definition}",
            context=propagator.extract(_context_of(ctx)),
            kind=api.trace.SpanKind.CONSUMER,
            attributes=_attempt_attributes(ctx),
        ):
            yield

    app.around_enqueue(enqueued)
    app.around(attempted)


def _api() -> Any:
    try:
        from opentelemetry import trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
    except ImportError:
        raise ExtraMissing("opentelemetry-api", extra="otel", what="tracing") from None
    return SimpleNamespace(trace=trace, propagator=TraceContextTextMapPropagator)


def _with_trace_context(job: NewJob, context: dict[str, str]) -> NewJob:
    metadata = load_json(job.metadata) if job.metadata else {}
    return job._replace(metadata=dump_json({**metadata, **context}, what="metadata"))


def _context_of(ctx: JobContext) -> dict[str, str]:
    metadata = ctx.job.metadata
    return {name: str(metadata[name]) for name in ("traceparent", "tracestate") if name in metadata}


def _enqueue_attributes(jobs: Sequence[NewJob]) -> dict[str, Any]:
    about: dict[str, Any] = {"messaging.batch.message_count": len(jobs)}
    if len(jobs) == 1:
        [job] = jobs
        about |= {
            "windlass.job_id": str(job.id),
            "windlass.tenant_id": job.tenant,
            "windlass.definition": job.definition,
            "windlass.queue": job.queue,
        }
        if job.correlation_id is not None:
            about["windlass.correlation_id"] = job.correlation_id
    return about


def _attempt_attributes(ctx: JobContext) -> dict[str, Any]:
    job = ctx.job
    about: dict[str, Any] = {
        "windlass.job_id": str(job.id),
        "windlass.tenant_id": job.tenant,
        "windlass.definition": job.definition,
        "windlass.queue": job.queue,
        "windlass.attempt": job.attempt,
    }
    if job.correlation_id is not None:
        about["windlass.correlation_id"] = job.correlation_id
    return about
