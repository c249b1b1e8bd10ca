[print, eval][-1:][0]("1")
