"""All planted bugs."""

from collections.abc import Sequence

from tests.mutants import epochs, finish, jobs, leases, loops
from tests.mutants.mutant import Mutant

MUTANTS: Sequence[Mutant] = (
    *finish.MUTANTS,
    *epochs.MUTANTS,
    *leases.MUTANTS,
    *loops.MUTANTS,
    *jobs.MUTANTS,
)
