-- Removes the rows of workers not seen for a long time.
delete from windlass_workers where last_seen_at < {now} - {seconds :seconds} returning id
