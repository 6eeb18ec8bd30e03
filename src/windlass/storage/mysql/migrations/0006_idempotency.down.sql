-- Forgets what was answered to requests with a key; one that is repeated is done again.
drop table if exists windlass_answers;
