-- Says whose gate changed not long ago; a transaction that old may still store jobs behind the old one.
select key from windlass_definitions where gated_at > {now} - 3600000000
