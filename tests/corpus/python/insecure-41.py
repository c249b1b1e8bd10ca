import ldap
l = ldap.initialize("ldap://dir.example.org")
l.set_option(ldap.OPT_X_TLS_REQUIRE_CERT, ldap.OPT_X_TLS_NEVER)
