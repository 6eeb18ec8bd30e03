-- Returns null: nothing in this database changes with a restore and only then.
select null as server
