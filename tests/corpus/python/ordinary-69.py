cursor.execute("select system from exec where eval = %s", (1,))
