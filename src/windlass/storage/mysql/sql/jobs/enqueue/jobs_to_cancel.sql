-- Finds waiting jobs that must end: their time to start has passed, or a parent failed.
(select id, 'expired' as reason from windlass_live force index (windlass_live_look)
 where look_at <= {now} and state = 'queued' order by look_at limit :most)
union all
(select id, 'expired' from windlass_later force index (windlass_later_look)
 where look_at <= {now} order by look_at limit :most)
union all
(select id, reason from windlass_later force index (windlass_later_doomed)
 where cancel_to is not null order by cancel_to, id limit :most)
