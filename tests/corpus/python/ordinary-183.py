Point = type("Point", (), {"x": 0, "y": 0})
p = Point(); p.x = 3
print(type(p).__name__, p.__dict__, isinstance(p, Point))
