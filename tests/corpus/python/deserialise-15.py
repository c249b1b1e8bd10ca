import jsonpickle
jsonpickle.decode(text)
