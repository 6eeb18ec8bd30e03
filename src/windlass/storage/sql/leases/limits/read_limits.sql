-- The limits among these names, as they stand now.
select l.* from {names} n {join} windlass_limits l {index primary} on l.name = n.name
