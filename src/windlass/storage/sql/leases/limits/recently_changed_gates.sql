-- Returns the definitions whose gate changed recently: a transaction that began before may still
-- store jobs with the old one.
select {name key} from windlass_definitions where gated_at > {now} - {seconds 3600}
