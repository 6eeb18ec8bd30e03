-- Notes until when the slots of a length are made. It never goes back.
insert into windlass_rollup_marks (span, until_at)
select {int :span}, {time :until}
where true
{on_conflict span}
    until_at = {greatest}(windlass_rollup_marks.until_at, {new until_at})
