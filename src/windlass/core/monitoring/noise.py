"""Noisy tenants: those who take more than their share of workers while others wait."""

from collections.abc import Mapping, Set
from datetime import timedelta

#: So many times its fair share is too much.
TIMES_FAIR = 2.0
#: So long another tenant's job has waited, before a share is too large.
LONG_WAIT = timedelta(seconds=10)


def noisy_tenants(
    running: Mapping[str, int], ages: Mapping[str, timedelta], weights: Mapping[str, int]
) -> Set[str]:
    """The tenants that are noisy.

    `running` has each tenant's running jobs, `ages` how long the oldest job in line of each has been
    due. A fair share is by weight, among the tenants with jobs that run or are in line.
    """
    active = {tenant for tenant in running if running[tenant] > 0} | ages.keys()
    total = sum(max(0, running.get(tenant, 0)) for tenant in active)
    weight = sum(weights.get(tenant, 1) for tenant in active)
    late = {tenant for tenant, age in ages.items() if age > LONG_WAIT}
    return {
        tenant
        for tenant in active
        if late - {tenant}
        and running.get(tenant, 0) * weight > TIMES_FAIR * weights.get(tenant, 1) * total
    }
