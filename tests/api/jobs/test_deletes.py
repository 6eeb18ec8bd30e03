"""DELETE of ended jobs, and the readiness of a draining server."""


async def test_an_ended_job_is_deleted_and_an_open_one_is_not(api, wl):
    @wl.job
    def ingest(path: str) -> str:
        return path

    await wl.ready()
    created = await api.post("/jobs", json={"definition": "ingest", "payload": {"path": "/"}})
    id = created.json()["job"]["id"]

    refused = await api.delete(f"/jobs/{id}")
    await api.post(f"/jobs/{id}/cancel")
    shown = (await api.get(f"/jobs/{id}")).json()
    not_dead = await api.delete(f"/dead/{id}")
    gone = await api.delete(f"/jobs/{id}")

    assert (refused.status_code, refused.json()["code"]) == (409, "WL3302")
    assert (shown["state"], shown["error_class"], shown["duration_ms"]) == ("canceled", None, None)
    assert (not_dead.status_code, gone.status_code) == (409, 204)
    assert (await api.get(f"/jobs/{id}")).status_code == 404


async def test_a_draining_server_is_not_ready(api, served):
    ready = await api.get("http://localhost/readyz")
    served.state.draining = True
    draining = await api.get("http://localhost/readyz")

    assert ready.status_code == 200
    assert (draining.status_code, draining.json()["code"]) == (503, "WL1112")
    assert (await api.get("http://localhost/healthz")).status_code == 200
