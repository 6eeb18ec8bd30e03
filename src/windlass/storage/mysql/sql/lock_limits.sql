-- Makes this transaction the only one to claim under these limits; those busy elsewhere are left out.
select l.* from {names} n straight_join windlass_limits l force index (primary) on l.name = n.name
for update skip locked
