-- Takes away what metrics tell of the past; jobs and their counts stay.
drop table if exists windlass_histograms;
drop table if exists windlass_totals;
alter table windlass_deltas drop column /*M! if exists */ retried;
