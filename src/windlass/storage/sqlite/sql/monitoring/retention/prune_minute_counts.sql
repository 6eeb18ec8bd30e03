-- Deletes some minutes long past; the totals stay.

-- let gone
select rowid as row from windlass_minutes where minute < {now} - :days * 86400000000
order by minute limit :most;

-- answer
select count(*) as pruned from {gone} g;

delete from windlass_minutes where rowid in (select row from {gone} g)
