-- Finds pending jobs whose parents may have ended while they were being stored.
select id from windlass_later where unchecked = 1 and state = 'pending' order by id limit :most
