-- Until when the slots of each length are made.
select span, until_at from windlass_rollup_marks
