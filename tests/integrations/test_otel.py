"""One trace goes from the code that enqueues a job to its attempts."""

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from windlass import Windlass
from windlass.errors import ExtraMissing
from windlass.integrations import otel

trace = pytest.importorskip("opentelemetry.trace")


@dataclass
class Provider(trace.TracerProvider):
    """As much of an SDK as is needed to see what it would be told."""

    spans: list = field(default_factory=list)

    def get_tracer(self, *_, **__):
        return Tracer(self)


@dataclass
class Tracer:
    provider: Provider

    @contextmanager
    def start_as_current_span(self, name, context=None, kind=None, attributes=None):
        parent = trace.get_current_span(context).get_span_context()
        mine = trace.SpanContext(
            trace_id=parent.trace_id or 7,
            span_id=len(self.provider.spans) + 1,
            is_remote=False,
            trace_flags=trace.TraceFlags(1),
        )
        self.provider.spans.append((name, kind, parent.span_id, mine.trace_id, attributes))
        with trace.use_span(trace.NonRecordingSpan(mine)):
            yield


@pytest.fixture
def provider():
    return Provider()


@pytest.fixture
def traced(wl: Windlass, provider: Provider):
    otel.install(wl, provider=provider)
    return wl


async def test_an_attempt_is_part_of_the_trace_that_enqueued_it(traced, provider):
    seen = []

    @traced.job("mail.send")
    async def send() -> None:
        seen.append(trace.get_current_span().get_span_context().span_id)

    receipt = await send.options(metadata={"zone": "b"}, correlation_id="request 7").enqueue()
    async with traced.running():
        await traced.jobs.wait(receipt.job_id)

    (enqueue, sent_as, no_parent, _, _), (attempt, run_as, parent, trace_id, about) = provider.spans
    assert (enqueue, sent_as, no_parent) == ("enqueue mail.send", trace.SpanKind.PRODUCER, 0)
    assert (attempt, run_as, parent) == ("attempt mail.send", trace.SpanKind.CONSUMER, 1)
    assert trace_id == 7
    assert seen == [2]
    assert about["windlass.job_id"] == str(receipt.job_id)
    assert about["windlass.correlation_id"] == "request 7"
    metadata = (await traced.jobs.get(receipt.job_id)).metadata
    assert metadata["zone"] == "b"
    assert metadata["traceparent"].startswith("00-")


async def test_many_jobs_are_one_span_and_carry_its_context(traced, provider):
    @traced.job("mail.send")
    async def send() -> None: ...

    receipts = await traced.enqueue_many([send.make() for _ in range(3)])

    [(_, _, _, _, about)] = provider.spans
    assert about == {"messaging.batch.message_count": 3}
    kept = {(await traced.jobs.get(r.job_id)).metadata["traceparent"] for r in receipts}
    assert len(kept) == 1


async def test_without_opentelemetry_the_extra_is_named(wl, monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)

    with pytest.raises(ExtraMissing, match=r"windlass\[otel\]"):
        otel.install(wl)
