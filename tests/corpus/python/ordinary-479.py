SQL = ("SELECT u.id, u.password_hash, t.token "
       "FROM users u JOIN tokens t ON t.user_id = u.id "
       "WHERE u.email = %s")
