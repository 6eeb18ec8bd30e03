-- Deletes some old minutes of the histograms; the lifetime totals stay.

-- let gone
select rowid as row from windlass_histograms
where minute > 0 and minute < {now} - :days * 86400000000 order by minute limit :most;

-- answer
select count(*) as pruned from {gone} g;

delete from windlass_histograms where rowid in (select row from {gone} g)
