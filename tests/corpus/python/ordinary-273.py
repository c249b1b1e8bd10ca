import json, sys, pathlib
DB = pathlib.Path.home() / ".todo.json"
items = json.loads(DB.read_text()) if DB.exists() else []
match sys.argv[1:]:
    case ["add", *w]:
        items.append(" ".join(w))
    case ["rm", n]:
        del items[int(n)]
    case ["list"] | []:
        for i, t in enumerate(items):
            print(i, t)
    case _:
        sys.exit("usage")
DB.write_text(json.dumps(items))
