-- The limits among these names, as they stand now.
select l.* from {names} n straight_join windlass_limits l force index (primary) on l.name = n.name
