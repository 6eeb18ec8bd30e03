"""All planted bugs."""

from collections.abc import Sequence

from tests.mutants import ends, epochs, leases, loops, people
from tests.mutants.mutant import Mutant

MUTANTS: Sequence[Mutant] = (
    *ends.MUTANTS,
    *epochs.MUTANTS,
    *leases.MUTANTS,
    *loops.MUTANTS,
    *people.MUTANTS,
)
