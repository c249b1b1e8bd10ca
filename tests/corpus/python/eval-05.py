handlers = {"calc": eval, "show": print}
handlers["calc"]("2 * 3")
