import marshal
marshal.loads(data)
