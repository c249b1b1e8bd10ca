import textwrap, string
print(string.Template("Hello $name, your token is $token").substitute(name="x", token=t))
print("{user}:{password}".format(user=u, password=p), "%(password)s" % d)
