UNITS = {"m": 1, "km": 1000, "mi": 1609.344}
def convert(v, a, b):
    return v * UNITS[a] / UNITS[b]
while True:
    s = input("value from to> ").split()
    if not s:
        break
    v, a, b = s
    print(convert(float(v), a, b))
