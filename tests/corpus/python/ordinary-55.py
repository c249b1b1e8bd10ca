match = {"x": 1}
match match:
    case {"x": int(v)}:
        print(v)
    case _:
        print("none")
