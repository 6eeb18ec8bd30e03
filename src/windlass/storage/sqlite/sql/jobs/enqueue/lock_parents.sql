-- Waits for nothing: a transaction that may write is alone, and sees every end there is.
select id from {ids} i where false
