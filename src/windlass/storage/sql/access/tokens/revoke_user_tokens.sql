-- Ends the tokens a user made.
update windlass_tokens set revoked_at = {now} where created_by = :user_id and revoked_at is null
