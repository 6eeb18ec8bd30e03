-- What time the database has.
select {now} as now
