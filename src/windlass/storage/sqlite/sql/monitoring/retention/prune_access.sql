-- Deletes expired sessions, links, invitations and login windows.
delete from windlass_sessions
where id in (select id from windlass_sessions where expires_at <= {now} limit :most);
delete from windlass_links
where hash in (select hash from windlass_links where expires_at <= {now} limit :most);
delete from windlass_invitations
where hash in (select hash from windlass_invitations where expires_at <= {now} limit :most);
delete from windlass_login_tries
where key in (select key from windlass_login_tries where until <= {now} limit :most)
