-- Says whose gate changed not long ago; a transaction that old may still store jobs behind the old
-- one.
select {name key} from windlass_definitions where gated_at > {now} - {seconds 3600}
