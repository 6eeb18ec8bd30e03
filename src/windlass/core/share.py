"""How one claim is shared between lines: tenants by weight, limits never exceeded.

Pure arithmetic. A survey gives the lines; the answer says how many jobs each may give.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from windlass.core.models import Line, Quota


def limit_names(
    tenant: str, gate: str, max_running: int | None, max_concurrency: int | None
) -> tuple[str, ...]:
    """The limits that jobs of a line fall under."""
    names = []
    if max_concurrency is not None:
        names.append(f"definition:{gate}")
    if max_running is not None:
        names.append(f"tenant:{tenant}")
    return tuple(names)


def limit_target(name: str) -> tuple[str, str | None, str | None]:
    """A limit's name with the definition, or the tenant, it is about."""
    kind, _, value = name.partition(":")
    return (name, value, None) if kind == "definition" else (name, None, value)


def quotas(lines: Sequence[Line], wanted: int) -> list[Quota]:
    """Share `wanted` jobs between the tenants of the lines by weight, at least one each.

    Lines come in the order of their turn; when there are more tenants than jobs wanted, the
    first ones are served and the rest are next. A tenant alone gets everything.
    """
    weights: dict[tuple[str, str], int] = {}
    for line in lines:
        weights.setdefault((line.queue, line.tenant), line.weight)
    served = dict(list(weights.items())[:wanted])
    total = sum(served.values())
    shares: dict[tuple[str, str], int] = {}
    left = wanted
    for who, weight in served.items():
        shares[who] = max(1, min(left, wanted * weight // total))
        left -= shares[who]
    for who in served:  # what rounding left over goes to the first in turn
        if left <= 0:
            break
        shares[who] += 1
        left -= 1
    while left < 0:  # minimum shares of one can overdraw; the largest pays
        largest = max(shares, key=shares.__getitem__)
        shares[largest] -= 1
        left += 1
    return [
        Quota(line=line, line_limit=share, tenant_limit=share)
        for line in lines
        if (share := shares.get((line.queue, line.tenant), 0)) > 0
    ]


def within(quotas: Sequence[Quota], rooms: Mapping[str, int]) -> list[Quota]:
    """Cut quotas so that together they take no more than each limit has room for."""
    left = dict(rooms)
    allowed = []
    for quota in quotas:
        room = min((left[name] for name in quota.line.limits), default=quota.line_limit)
        take = min(quota.line_limit, room)
        if take < 1:
            continue
        for name in quota.line.limits:
            left[name] -= take
        allowed.append(replace(quota, line_limit=take))
    return allowed


def next_cursor(lines: Sequence[Line], served: Sequence[Quota]) -> str:
    """Where the next survey begins: after the last tenant that was served."""
    return served[-1].line.tenant if served else (lines[-1].tenant if lines else "")
