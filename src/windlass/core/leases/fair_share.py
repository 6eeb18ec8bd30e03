"""Fair share: divides the slots of one claim between tenants by weight, within all limits.

Pure arithmetic: a survey gives the lines, and the result is a quota for each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from windlass.core.leases.lease import JobLine, Quota
from windlass.core.leases.limits import CapacityKey, Limit


def share_quotas(lines: Sequence[JobLine], wanted: int) -> list[Quota]:
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


def limit_quotas(
    quotas: Sequence[Quota], limits: Mapping[str, Limit], rooms: Mapping[CapacityKey, int]
) -> list[Quota]:
    """Cut quotas so that together they take no more than each limit has room for.

    A limit that is not among these cannot be counted now, and nothing is taken under it.
    """
    left = dict(rooms)
    allowed = []
    for quota in quotas:
        if any(name not in limits for name in quota.line.limits):
            continue
        needed = [
            room for name in quota.line.limits for room in limits[name].capacities(quota.line)
        ]
        take = min([quota.line_limit, *(left[room[:2]] for room in needed)])
        if take < 1:
            continue
        for room in needed:
            left[room[:2]] -= take
        allowed.append(replace(quota, line_limit=take))
    return allowed
