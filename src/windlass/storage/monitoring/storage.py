"""Storage verbs on counts, metrics, health, alerts and retention."""

from windlass.storage.database import Database
from windlass.storage.monitoring.alerts import AlertVerbs
from windlass.storage.monitoring.health import HealthVerbs
from windlass.storage.monitoring.installation import InstallationVerbs
from windlass.storage.monitoring.integrity import IntegrityVerbs
from windlass.storage.monitoring.metrics import MetricVerbs
from windlass.storage.monitoring.retention import RetentionVerbs
from windlass.storage.monitoring.rollups import RollupVerbs
from windlass.storage.monitoring.series import SeriesVerbs
from windlass.storage.monitoring.stream_reads import StreamVerbs
from windlass.storage.monitoring.summaries import SummaryVerbs


class MonitoringStorage(
    AlertVerbs,
    HealthVerbs,
    InstallationVerbs,
    IntegrityVerbs,
    MetricVerbs,
    RetentionVerbs,
    RollupVerbs,
    SeriesVerbs,
    StreamVerbs,
    SummaryVerbs,
):
    def __init__(self, database: Database) -> None:
        self._db = database
