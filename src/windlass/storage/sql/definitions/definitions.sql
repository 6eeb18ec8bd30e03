-- All definitions, by key.
select * from windlass_definitions order by {name key}
