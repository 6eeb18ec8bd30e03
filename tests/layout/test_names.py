"""Names that mean one thing, and docstrings that start with the thing they describe."""

import ast
from collections import defaultdict

from tests.layout.repository import SOURCE, name_of, python_files, tree_of

MOST_SHARED = 15
#: Nouns that name the same thing in two layers -> which. At most fifteen.
SHARED = {
    "Windlass": "the app, async and blocking",
    "Jobs": "the jobs as the engine serves them, and the blocking face of that",
    "Definitions": "the same of definitions",
    "Triggers": "the same of triggers",
    "Queues": "the same of queues",
    "Workers": "the same of workers",
    "Tenants": "the same of tenants",
    "Events": "the same of events",
    "Audit": "the same of the audit",
    "Logs": "the same of logs",
    "JobHandle": "a job in a program's hands, async and blocking",
    "JobPage": "a page of jobs, with handles in a program",
    "Receipt": "what enqueue returns, and its JSON",
    "NewJob": "a job to be stored, and the JSON that asks for one",
    "Lease": "a worker's hold on a job, and the JSON that names one",
}
#: Still to be renamed, with the proposed name; to be emptied.
_TO_RENAME = {
    "AttemptEnd": "api/schema/worker_requests.AttemptEnd -> AttemptEndBody",
    "AuditHead": "api/schema/requests.AuditHead -> PinnedHeadBody",
    "BulkAction": "cli/jobs/bulk.BulkAction -> BulkCommand",
    "Command": "cli/framework/commands.Command -> ClickCommand",
    "Explanation": "api/schema/responses.Explanation -> ExplanationResponse",
    "FailingDefinition": "api/schema/responses.FailingDefinition -> FailingDefinitionResponse",
    "GroupChange": "api/schema/responses.GroupChange -> GroupChangeResponse",
    "Look": "api/live/pollers.Look -> TopicPoller; cli/text/styles.Look -> StateStyle",
    "Membership": "api/schema/responses.Membership -> MembershipResponse",
    "NewToken": "api/schema/responses.NewToken -> TokenWithSecret",
    "OneTimeLink": "api/schema/responses.OneTimeLink -> OneTimeLinkResponse",
    "OperationItem": "api/schema/responses.OperationItem -> OperationItemResponse",
    "Parameter": "api/routing.Parameter -> RouteParameter",
    "Pool": "storage/mysql/pool.Pool -> MysqlPool; storage/postgres/pool.Pool -> PostgresPool",
    "Problem": "api/middleware/problems.Problem -> ProblemJsonResponse",
    "SchedulePreview": "api/schema/responses.SchedulePreview -> SchedulePreviewResponse",
    "ScheduledRun": "api/schema/responses.ScheduledRun -> ScheduledRunResponse",
    "Session": "storage/database.Session -> DatabaseSession; fast_enqueue.Session -> its protocol",
    "Stats": "api/schema/responses.Stats -> StatsResponse",
    "StatsPoint": "api/schema/responses.StatsPoint -> StatsPointResponse",
    "Status": "api/schema/responses.Status -> HealthResponse; storage/migrate.Status -> SchemaStatus",
    "Summary": "api/schema/responses.Summary -> SummaryResponse; testing/summary.Summary -> RunSummary",
    "TenantStats": "api/schema/responses.TenantStats -> TenantStatsResponse",
    "Verb": "app/verbs.Verb -> EngineVerb",
    **{
        f"{noun}Verbs": f"app/nouns.{noun}Verbs -> {noun}Calls"
        for noun in (
            "Audit",
            "Dead",
            "Definition",
            "Enqueue",
            "Queue",
            "Tenant",
            "Trigger",
            "Worker",
        )
    },
    "WorkerOrder": "api/schema/responses.WorkerOrder -> WorkerOrderResponse",
}
#: How a docstring does not begin: the reader would not know what it is about.
_RIDDLES = {"What", "Whatever", "Whether", "Who", "Whoever", "How", "Where"}
#: Modules whose docstring still begins so; to be emptied.
_TO_REWRITE = {
    "src/windlass/engine/leases/remote_latency.py",
    "src/windlass/engine/monitoring/latency.py",
    "src/windlass/engine/monitoring/metrics.py",
    "src/windlass/engine/triggers/trigger_dry_run.py",
    "src/windlass/worker/isolation/__init__.py",
    "src/windlass/worker/reporting/__init__.py",
}


def _modules_by_class():
    found = defaultdict(set)
    for file in python_files("src"):
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ClassDef):
                found[node.name].add(file.relative_to(SOURCE).as_posix())
    return found


def test_no_class_name_names_two_things():
    shared = {name for name, modules in _modules_by_class().items() if len(modules) > 1}

    assert shared - SHARED.keys() - _TO_RENAME.keys() == set()
    assert len(SHARED) <= MOST_SHARED


def test_a_modules_docstring_starts_with_the_thing():
    riddles = {
        name_of(file)
        for file in python_files("src")
        if (ast.get_docstring(tree_of(file)) or "-").split()[0].strip(",:;") in _RIDDLES
    }

    assert riddles - _TO_REWRITE == set()
