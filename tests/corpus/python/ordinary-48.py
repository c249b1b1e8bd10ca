import textwrap, pprint
pprint.pprint(textwrap.wrap("a long line of words that wraps", 10))
