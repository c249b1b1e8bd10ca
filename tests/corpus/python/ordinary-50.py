obj = {"name": "x"}
key = "na" + "me"
print(obj[key], getattr(obj, "get")("name"))
