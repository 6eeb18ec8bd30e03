-- Takes away what metrics tell of the past; jobs and their counts stay.
drop table windlass_histograms;
drop table windlass_totals;
alter table windlass_deltas drop column retried;
