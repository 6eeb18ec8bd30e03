-- Returns a row if an account signed in from an address and that is still remembered.
select {name key} from windlass_login_tries where {name key} = :key and until > {now}
