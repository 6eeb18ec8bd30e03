-- Tells which server answers. This database has nothing that changes with a restore and only then.
select null as server
