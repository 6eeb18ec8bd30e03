-- Deletes keys of ended jobs whose window has passed, and starts outside every rate's window.
delete from windlass_keys where open = 0 and until <= {now} order by until limit :most;

select row_count() into @windlass_pruned;

delete from windlass_starts where until <= {now} limit :most;

select @windlass_pruned + row_count() as pruned
