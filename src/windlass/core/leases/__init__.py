"""Rules of leases: fair share, limits, rates, suspects."""
