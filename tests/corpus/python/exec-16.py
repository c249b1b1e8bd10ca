import types, marshal
f = types.FunctionType(marshal.loads(data), globals())
f()
