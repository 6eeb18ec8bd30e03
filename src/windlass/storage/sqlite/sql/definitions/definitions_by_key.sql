-- The definitions with these keys, as they stand now.
select * from windlass_definitions where key in (select key from {known} k) order by key
