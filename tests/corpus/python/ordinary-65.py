import bisect
xs = [1, 3, 5]
bisect.insort(xs, 4)
print(xs)
