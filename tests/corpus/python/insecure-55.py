conn.search_s(base, 2, "(uid=%s)" % user)
