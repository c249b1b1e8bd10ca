values = []
values += [eval("1")]
