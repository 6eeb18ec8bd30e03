-- Notes how many jobs an event made.
update windlass_events set jobs = :made where id = :id
