import copy
a = [1, [2]]
b = copy.deepcopy(a)
print(a == b, a is b)
