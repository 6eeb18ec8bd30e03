"""`/metrics`: metrics of the installation in the Prometheus format."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from fastapi import APIRouter, Header, Request
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.responses import Response

from windlass.api.access.callers import CurrentCaller, ReadyEngine, require_right
from windlass.api.http_routes import PROBLEMS, SafeRoute, as_dependency
from windlass.api.routing import RIGHT, Depends
from windlass.core.monitoring.latency import Histogram
from windlass.engine.monitoring import metrics
from windlass.engine.monitoring.metrics import METRICS, Sample, cumulative_counts
from windlass.errors import Forbidden

_READ = "metrics.read"

router = APIRouter(route_class=SafeRoute, tags=["health"], responses=PROBLEMS)


@router.get(
    "/metrics",
    summary="Get metrics for Prometheus",
    operation_id="health.metrics",
    dependencies=[as_dependency(Depends(require_right(_READ)))],
    openapi_extra={RIGHT: _READ},
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def show(
    request: Request,
    engine: ReadyEngine,
    caller: CurrentCaller,
    accept: Annotated[str, Header()] = "",
) -> Response:
    """Covers all tenants; values are at most some seconds old."""
    if caller.scope.tenant is not None:
        raise Forbidden(_READ)
    registry = CollectorRegistry()
    registry.register(_Read(await engine.metrics.read()))
    ProcessCollector(registry=registry)
    encode, content_type = choose_encoder(accept)
    return Response(encode(registry), headers={"content-type": content_type})


class _Read(Collector):
    """Samples, grouped by metric for the Prometheus client."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = samples

    def collect(self) -> Iterator[Metric]:
        for metric in METRICS:
            mine = [sample for sample in self._samples if sample.metric is metric]
            yield _family(metric, mine)


def _family(metric: metrics.Metric, samples: Sequence[Sample]) -> Metric:
    match metric.type:
        case "histogram":
            histogram = HistogramMetricFamily(metric.name, metric.tells, labels=metric.labels)
            for sample in samples:
                assert isinstance(sample.value, Histogram)
                histogram.add_metric(
                    sample.labels, cumulative_counts(sample.value), sum_value=sample.value.seconds
                )
            return histogram
        case "counter" | "gauge":
            kind = CounterMetricFamily if metric.type == "counter" else GaugeMetricFamily
            family = kind(metric.name, metric.tells, labels=metric.labels)
            for sample in samples:
                assert isinstance(sample.value, float)
                family.add_metric(sample.labels, sample.value)
            return family
