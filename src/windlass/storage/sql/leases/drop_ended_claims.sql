-- Deletes nothing: an index on the jobs finds expired leases here.
select 0 as forgotten
