import os
print(os.path.join("a", "b"), os.getcwd(), os.environ.get("HOME"))
for name in sorted(os.listdir(".")):
    print(name)
