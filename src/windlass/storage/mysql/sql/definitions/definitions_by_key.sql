-- The definitions with these keys, as they stand now.
select d.* from {known} k straight_join windlass_definitions d force index (primary) on d.`key` = k.`key` order by d.`key` for update
