-- Answers a row if an account signed in from an address and that is still remembered.
select `key` from windlass_login_tries where `key` = :key and until > {now}
