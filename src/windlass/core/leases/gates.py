"""Gates: what must be known and counted before the jobs that stand behind one may be claimed.

Ordinary jobs stand behind none (''). Jobs of a definition that is limited or disabled stand behind its
key, so that nobody else waits behind them. A job whose payload is of a later version than the
first, or that has a limit key, stands behind a gate of its own kind, `definition␟version␞key`: workers
of older code pass it by, and a key that is full is not in the way of the others. Keys are a tenant's
own, and count over all versions.

A job whose worker died with others is a suspect: a mark after the version says so, and makes a gate that
only workers draw from that may run a suspect now. See docs/decisions/0019.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from windlass.core.definitions.definition import Definition
from windlass.core.jobs.dedupe import LONGEST_NAME, check_name
from windlass.core.jobs.models import DEFAULT_TENANT
from windlass.core.payloads.json_text import load_json

#: Between definition and version, and before the key. No person types them.
VERSION, KEY = "\x1f", "\x1e"
#: After the version, in the gate of a suspect; twice if it has to run with no other job beside it.
SUSPECT = "\x1d"

#: A key as it is, as long as it is no longer than this; else a digest of it, which this begins.
_LONGEST_KEY = 32
_DIGEST = "#"


def check_key(key: object) -> str:
    """`key` itself, if a definition may be known by it."""
    # The separators above do not print, so no name has them.
    return check_name("definition", key)


def gate_of(definition: Definition) -> str:
    """The gate of a definition's ordinary jobs."""
    return definition.key if not definition.enabled or is_limited(definition) else ""


def is_limited(definition: Definition) -> bool:
    """True if its jobs are counted, all together or by key."""
    return any(
        limit is not None
        for limit in (
            definition.max_concurrency,
            definition.max_per_key,
            definition.rate_count,
            definition.key_rate_count,
        )
    )


def own_gate(definition: Definition, tenant: str, key: str | None) -> str | None:
    """The gate of a job that does not stand where its definition's ordinary jobs do."""
    if key is None and definition.version == 1:
        return None
    version = "" if definition.version == 1 else f"{VERSION}{definition.version}"
    return definition.key + version + ("" if key is None else KEY + _token(tenant, key))


def gate_for(definition: Definition, tenant: str, payload: str) -> str | None:
    """The own gate of a job with this payload, which is JSON text."""
    path = definition.limit_key
    key = None if path is None else key_in(load_json(payload), path)
    return own_gate(definition, tenant, key)


def needs(known: Mapping[str, int] | Iterable[str]) -> list[str]:
    """Gates a worker may pass: its definitions, and the versions of their payloads that it knows."""
    if not isinstance(known, Mapping):
        return list(known)
    later = [f"{key}{VERSION}{n}" for key, most in known.items() for n in range(2, most + 1)]
    return [*known, *later]


def versions(known: Iterable[str]) -> dict[str, int]:
    """The reverse of `needs`: definitions, and the latest known version of each."""
    latest: dict[str, int] = {}
    for need in known:
        key = definition_of(need)
        latest[key] = max(latest.get(key, 1), version_of(need))
    return latest


def definition_of(gate: str) -> str:
    """The definition whose jobs stand behind a gate; '' if they are of several."""
    return gate.partition(KEY)[0].partition(VERSION)[0]


def version_of(gate: str) -> int:
    """The version of the payloads behind a gate."""
    if not gate:
        return 1
    version = gate.partition(KEY)[0].partition(VERSION)[2].rstrip(SUSPECT)
    return int(version) if version else 1


def counted_by(gate: str) -> str | None:
    """Limit name by which jobs behind a gate with a limit key are counted too; None without a key.
    Statements make the same name of a gate."""
    _, has_key, token = gate.partition(KEY)
    return f"key:{definition_of(gate)}{KEY}{token}" if has_key else None


def is_suspect(gate: str) -> bool:
    """True if the jobs behind a gate run one at a time on each worker."""
    return SUSPECT in gate


def runs_alone(gate: str) -> bool:
    """True if the jobs behind a gate run only where no other job runs."""
    return SUSPECT * 2 in gate


def suspect_gate(gate: str, definition: str, *, alone: bool = False) -> str | None:
    """The gate of a job from now on, if it is a suspect; None if there is no room for the mark."""
    front, before_key, key = (cleared_gate(gate) or definition).partition(KEY)
    marked = suspect_name(front, alone=alone) + before_key + key
    return marked if len(marked) <= LONGEST_NAME else None


def cleared_gate(gate: str) -> str:
    """The gate of a job that is no suspect any more. Statements make the same of a gate."""
    if SUSPECT not in gate:
        return gate
    return gate.replace(SUSPECT, "").replace(VERSION + KEY, KEY).rstrip(VERSION)


def suspect_name(need: str, *, alone: bool = False) -> str:
    """Gate name that lets a worker claim suspects of a definition, or of a version of it."""
    return need + ("" if VERSION in need else VERSION) + SUSPECT * (2 if alone else 1)


def with_suspects(known: Iterable[str]) -> list[str]:
    """Gates of a worker that may run a suspect now: all that it knows, and the suspects of these."""
    plain = list(known)
    return [
        *plain,
        *(suspect_name(need) for need in plain),
        *(suspect_name(need, alone=True) for need in plain),
    ]


def key_in(payload: Any, path: str) -> str | None:
    """The limit key of a payload: the value at a path such as `args.account_id`. None if it has none."""
    value = payload
    for name in path.removeprefix("args.").split("."):
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    if value is None or isinstance(value, Mapping | list):
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def _token(tenant: str, key: str) -> str:
    plain = len(key) <= _LONGEST_KEY and key.isprintable() and not key.startswith(_DIGEST)
    if plain and tenant == DEFAULT_TENANT:
        return key
    whole = f"{tenant}{KEY}{key}".encode("utf-8", "surrogatepass")
    return _DIGEST + hashlib.sha256(whole).hexdigest()[: _LONGEST_KEY - 1]
