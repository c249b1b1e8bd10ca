def find(db, mail):
    sql = "SELECT id FROM users " \
          "WHERE mail = '" + mail + "'"
    return db.run(sql)
