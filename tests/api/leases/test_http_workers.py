"""`/worker`: claiming and finishing jobs by a worker without a database."""

from datetime import UTC, datetime

import httpx2
import pytest

from windlass import Backoff, Settings, Windlass
from windlass.api.access.callers import Caller
from windlass.api.app import create_api
from windlass.core.jobs.models import ALL_TENANTS, Scope

NOWHERE = "0190a5d0-0000-7000-8000-000000000000"


@pytest.fixture
def hello(wl):
    @wl.job(max_attempts=2, backoff=Backoff.fixed("1h"))
    def hello(name: str = "Ada", password: str = "") -> str:
        return name

    return hello


async def claim(api, worker="far:1", **more):
    body = {"worker": worker, "slots": 5, "definitions": {"hello": 1}, **more}
    response = await api.post("/worker/jobs/claim", json=body)
    assert response.status_code == 200, response.text
    return response.json()


@pytest.fixture
async def lease(api, hello):
    await hello.enqueue()
    [lease] = (await claim(api))["leases"]
    return lease


async def say(api, lease, verb, worker="far:1", **more):
    body = {"worker": worker, "token": lease["token"], **more}
    response = await api.post(f"/worker/jobs/{lease['job_id']}/{verb}", json=body)
    assert response.status_code == 200, response.text
    return response.json()


async def job_of(api, lease):
    return (await api.get(f"/jobs/{lease['job_id']}")).json()


async def test_a_claim_returns_what_a_run_needs(api, hello):
    await hello.options(priority="high", metadata={"a": 1}).enqueue(name="Bob", password="s3cret")
    await hello.options(delay="1h").enqueue()

    claimed = await claim(api)

    [lease] = claimed["leases"]
    assert lease["payload"] == {"name": "Bob", "password": "s3cret"}
    assert (lease["definition"], lease["attempts"], lease["max_attempts"]) == ("hello", 1, 2)
    assert (lease["tenant_id"], lease["metadata"], lease["payload_version"]) == (
        "default",
        {"a": 1},
        1,
    )
    assert 3500 < claimed["next_due_seconds"] <= 3600
    assert (await claim(api))["leases"] == []


async def test_only_known_definitions_and_served_queues_are_claimed(api, hello):
    await hello.enqueue()

    assert (await claim(api, definitions={"other": 1}))["leases"] == []
    assert (await claim(api, queues=["mail"]))["leases"] == []
    assert len((await claim(api, queues=["default"]))["leases"]) == 1


@pytest.mark.parametrize("said", ["tidy", "TIDY", "tidy ", "tidy\x1f2"])
async def test_an_http_worker_never_gets_system_jobs(api, wl, said, hello):
    @wl.job(system=True)
    def tidy() -> None: ...

    @wl.job("tidy.limited", system=True, max_concurrency=1, version=2)
    def tidy_limited() -> None: ...

    await tidy.enqueue()
    await tidy_limited.enqueue()
    await hello.enqueue()

    claimed = await claim(api, definitions={said: 3, "tidy.limited": 3, "hello": 1})
    again = await claim(api, definitions={said: 3, "tidy.limited": 3}, nudged=True)

    assert [lease["definition"] for lease in claimed["leases"]] == ["hello"]
    assert again["leases"] == []


async def test_a_worker_row_lists_no_system_definition(api, wl, hello):
    @wl.job(system=True)
    def tidy() -> None: ...

    await tidy.enqueue()
    presence = {"hostname": "far", "pid": 1, "version": "1", "slots": 1}

    response = await api.post(
        "/worker/beat",
        json={"worker": "far:1", "definitions": ["hello", "tidy", "other"], **presence},
    )

    [row] = (await api.get("/workers")).json()["items"]
    assert row["definitions"] == ["hello", "other"]
    assert response.json()["unknown_definitions"] == ["other"]


async def test_a_newer_payload_version_waits_for_a_worker_that_knows_it(api, wl):
    @wl.job(version=2)
    def newer() -> None: ...

    await newer.enqueue()

    assert (await claim(api, definitions={"newer": 1}))["leases"] == []
    [lease] = (await claim(api, definitions={"newer": 2}))["leases"]
    assert lease["payload_version"] == 2


async def test_a_claim_retried_after_a_lost_response_returns_the_same_leases(api, hello):
    await hello.enqueue()
    await hello.enqueue()

    first = await claim(api, slots=1, key="a")
    again = await claim(api, slots=1, key="a")
    await say(api, first["leases"][0], "complete")
    after = await claim(api, slots=1, key="a")
    next_one = await claim(api, slots=1, key="b")

    assert first["leases"] == again["leases"]
    assert after["leases"] == []
    assert next_one["leases"][0]["job_id"] != first["leases"][0]["job_id"]


async def test_an_operators_time_limit_is_sent_with_the_lease(api, wl, hello):
    await wl.definitions.edit("hello", timeout="7s")
    await hello.enqueue()

    [lease] = (await claim(api))["leases"]

    assert lease["timeout_seconds"] == 7


async def test_success_is_recorded_once(api, lease):
    done = await say(api, lease, "complete", result={"a": [1]}, warnings=["half"])
    again = await say(api, lease, "complete", result="other")

    job = await job_of(api, lease)
    assert (done["state"], again["state"]) == ("completed", None)
    assert (job["state"], job["result"], job["warnings"]) == ("completed", {"a": [1]}, ["half"])


async def test_the_server_decides_between_retry_and_dead_letter(api, wl, lease):
    first = await say(api, lease, "fail", error="no", error_type="ValueError")
    waiting = await job_of(api, lease)
    await wl.jobs.run_now(lease["job_id"])
    [second] = (await claim(api))["leases"]
    last = await say(api, second, "fail", error="no", error_type="ValueError")

    assert (first["state"], waiting["view"]) == ("queued", "retrying")
    due_in = datetime.fromisoformat(waiting["due_at"]) - datetime.now(UTC)
    assert due_in.total_seconds() > 3000  # the definition's own backoff
    assert last["state"] == "dead_letter"
    assert (await job_of(api, lease))["fingerprint"]


async def test_a_permanent_failure_is_not_retried(api, lease):
    assert (await say(api, lease, "fail", error="no", permanent=True))["state"] == "dead_letter"


async def test_a_released_job_is_not_counted(api, lease):
    released = await say(api, lease, "release")
    [again] = (await claim(api))["leases"]
    later = await say(api, again, "release", delay_seconds=600)

    job = await job_of(api, lease)
    assert (released["state"], later["state"]) == ("queued", "queued")
    assert (again["attempts"], job["attempts"], job["view"]) == (1, 0, "scheduled")


async def test_secrets_are_redacted_before_they_are_stored(api, wl, hello):
    await hello.enqueue(password="hunter22")
    [lease] = (await claim(api))["leases"]
    line = {"message": "it was hunter22", "at": "2030-01-01T00:00:00Z", "fields": {"token": "x"}}

    await say(api, lease, "heartbeat", progress={"fraction": 0.5, "note": "trying aHVudGVyMjI="},
              lines=[line])  # fmt: skip
    running = await wl.jobs.get(lease["job_id"])
    await say(api, lease, "fail", error="it was hunter22", error_trace="hunter22",
              stdout_tail="hunter22", stderr_tail="hunter22")  # fmt: skip

    job = await wl.jobs.get(lease["job_id"])
    [attempt] = await wl.jobs.attempts(lease["job_id"])
    [log_entry] = await wl.jobs.logs(lease["job_id"])
    assert "hunter22" not in repr((job.last_error, job.error_trace))
    assert running.progress_note == "trying •••"
    assert "hunter22" not in repr(attempt)
    assert "hunter22" not in repr(log_entry)
    assert log_entry.fields != {"token": "x"}


async def test_a_heartbeat_renews_leases_and_returns_cancel_requests(api, lease):
    before = (await job_of(api, lease))["lease_expires_at"]

    going_on = await say(api, lease, "heartbeat", lease_seconds=600)
    after = (await job_of(api, lease))["lease_expires_at"]
    await api.post(f"/jobs/{lease['job_id']}/cancel")
    looked = await say(api, lease, "heartbeat", renew=False)
    renewed = await say(api, lease, "heartbeat")

    assert after > before
    assert (going_on["stop"], looked["stop"], renewed["stop"]) == (None, "canceled", "canceled")


async def test_reading_a_lease_does_not_change_it(api, lease):
    before = (await job_of(api, lease))["lease_expires_at"]

    await say(api, lease, "heartbeat", renew=False, lease_seconds=600)

    assert (await job_of(api, lease))["lease_expires_at"] == before


@pytest.mark.parametrize("which", ["unknown", "stale", "foreign"])
async def test_unknown_stale_and_foreign_leases_get_equal_responses(api, lease, which):
    other, worker = dict(lease), "far:1"
    match which:
        case "unknown":
            other["job_id"] = NOWHERE
        case "stale":
            other["token"] += 1
        case "foreign":
            worker = "far:2"
    before = await job_of(api, lease)
    line = {"message": "x", "at": "2030-01-01T00:00:00Z"}

    beat = await say(api, other, "heartbeat", worker, progress={"fraction": 1}, lines=[line])
    ends = [
        await say(api, other, "complete", worker),
        await say(api, other, "fail", worker, error="no"),
        await say(api, other, "release", worker),
    ]

    assert beat == {"stop": "lost"}
    assert [end["state"] for end in ends] == [None, None, None]
    assert await job_of(api, lease) == before
    assert (await api.get(f"/jobs/{lease['job_id']}/logs")).json()["items"] == []


async def test_leases_missing_from_a_workers_full_list_are_released(api, hello):
    for _ in range(2):
        await hello.enqueue()
    kept, unknown = (await claim(api))["leases"]
    held = [{"job_id": kept["job_id"], "token": kept["token"]}]

    beat = await api.post(
        "/worker/heartbeat", json={"worker": "far:1", "leases": held, "complete": True}
    )

    assert beat.json() == {"leases": [{**held[0], "stop": None}]}
    assert (await job_of(api, kept))["state"] == "running"
    back = await job_of(api, unknown)
    assert (back["state"], back["attempts"]) == ("queued", 0)


async def test_leases_of_other_workers_are_not_released(api, lease):
    await api.post("/worker/heartbeat", json={"worker": "far:2", "leases": [], "complete": True})

    assert (await job_of(api, lease))["state"] == "running"


async def test_many_runs_are_reported_in_one_request(api, wl, hello):
    for _ in range(3):
        await hello.enqueue()
    leases = (await claim(api))["leases"]
    held = [{"job_id": lease["job_id"], "token": lease["token"]} for lease in leases]
    foreign = {"job_id": NOWHERE, "token": 1}

    beat = await api.post(
        "/worker/heartbeat",
        json={
            "worker": "far:1",
            "leases": [*held, foreign],
            "progress": [{**held[0], "fraction": 0.5, "note": "half"}],
            "lines": [{**held[1], "message": "hi", "at": "2030-01-01T00:00:00Z"}],
        },
    )
    progress = (await job_of(api, leases[0]))["progress"]
    ended = await api.post(
        "/worker/finish",
        json={
            "worker": "far:1",
            "ends": [
                {**held[0], "outcome": "succeeded", "result": 1},
                {**held[1], "outcome": "failed", "error": "no"},
                {**held[2], "outcome": "released"},
                {**foreign, "outcome": "succeeded"},
            ],
        },
    )

    assert [lease["stop"] for lease in beat.json()["leases"]] == [None, None, None, "lost"]
    assert progress == 0.5
    assert [line.message for line in await wl.jobs.logs(leases[1]["job_id"])] == ["hi"]
    states = [end["state"] for end in ended.json()["ends"]]
    assert states == ["completed", "queued", "queued", None]


async def test_a_worker_row_is_kept_and_unknown_definitions_are_returned(api, hello):
    row = {"worker": "far:1", "hostname": "far", "pid": 1, "version": "1", "slots": 2}

    beat = await api.post("/worker/beat", json={**row, "definitions": ["hello", "nobody.knows"]})
    seen = (await api.get("/workers")).json()["items"]
    left = await api.post("/worker/leave", json={"worker": "far:1"})

    assert beat.json() == {"wanted": "run", "unknown_definitions": ["nobody.knows"]}
    assert [(worker["id"], worker["slots"]) for worker in seen] == [("far:1", 2)]
    assert left.status_code == 204
    assert (await api.get("/workers")).json()["items"] == []


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("jobs/claim", {"slots": 0}, "/slots"),
        ("jobs/claim", {"slots": 5_000}, "/slots"),
        ("jobs/claim", {"worker": "a/b"}, "/worker"),
        ("jobs/claim", {"definitions": {"a": 100_000}}, "/definitions/a"),
        ("jobs/claim", {"lease_seconds": 9_999}, "/lease_seconds"),
        ("jobs/claim", {"state": "completed"}, "/state"),
        (f"jobs/{NOWHERE}/complete", {"token": "1"}, "/token"),
        (f"jobs/{NOWHERE}/fail", {"error": "x" * 70_000}, "/error"),
        (f"jobs/{NOWHERE}/release", {"state": "queued"}, "/state"),
        ("finish", {"ends": [{"outcome": "lost"}]}, "/ends/0/outcome"),
    ],
)
async def test_out_of_range_and_unknown_fields_are_refused(api, path, body, pointer):
    response = await api.post(f"/worker/{path}", json={"worker": "far:1", "token": 1, **body})

    assert response.status_code == 422
    assert pointer in {error["pointer"] for error in response.json()["errors"]}


def client_as(wl, caller):
    async def authenticate(request):
        return caller

    transport = httpx2.ASGITransport(create_api(wl, authenticate=authenticate))
    return httpx2.AsyncClient(transport=transport, base_url="http://api/api/v1")


async def test_a_credential_cannot_act_for_another_credentials_worker(api, wl, hello):
    await hello.enqueue()
    rights = frozenset({"worker.work"})
    async with (
        client_as(wl, Caller("one", ALL_TENANTS, rights)) as one,
        client_as(wl, Caller("two", ALL_TENANTS, rights)) as two,
    ):
        [lease] = (await claim(one))["leases"]
        foreign = await say(two, lease, "complete")
        stranger = await say(api, lease, "complete")
        own = await say(one, lease, "complete")
        read = await one.get(f"/jobs/{lease['job_id']}")

    assert (foreign["state"], stranger["state"], own["state"]) == (None, None, "completed")
    assert read.status_code == 403


@pytest.mark.parametrize(
    "caller",
    [
        Caller("reader", ALL_TENANTS, frozenset({"jobs.read"})),
        Caller("tenant", Scope.of("default"), frozenset({"worker.work"})),
    ],
)
async def test_claiming_needs_its_right_for_all_tenants(wl, hello, caller):
    await hello.enqueue()
    async with client_as(wl, caller) as client:
        body = {"worker": "far:1", "slots": 1, "definitions": {"hello": 1}}
        refused = await client.post("/worker/jobs/claim", json=body)

    assert refused.status_code == 403


async def test_waits_and_runs_are_counted_in_the_metrics(api, wl, hello):
    for _ in range(3):
        await hello.enqueue()
    done, failed, released = (await claim(api))["leases"]
    await say(api, done, "complete")
    await say(api, failed, "fail", error="no")
    await say(api, released, "release")
    await say(api, done, "complete")  # its lease is lost

    await (await wl.ready()).remote.times.flush()

    percentiles = await wl.engine.latency.histograms()
    assert (percentiles.wait.count, percentiles.run.count) == (3, 2)
    places = await wl.engine.storage.monitoring.latency_histograms()
    assert {(place.kind, place.queue, place.definition) for place in places} == {
        ("wait", "default", "hello"),
        ("run", "default", "hello"),
    }


async def test_a_repeated_claim_counts_one_wait(api, wl, hello):
    await hello.enqueue()
    await claim(api, key="a")
    await claim(api, key="a")

    await (await wl.ready()).remote.times.flush()

    assert (await wl.engine.latency.histograms()).wait.count == 1


async def test_buffered_observations_are_stored_at_shutdown(database, api, wl, lease):
    await wl.close()

    other = Windlass(database.url, settings=Settings())
    try:
        assert (await other.engine.latency.histograms()).wait.count == 1
    finally:
        await other.close()
