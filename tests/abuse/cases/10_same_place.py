#: item: 10
#: what: makes the same things again; a leftover would be in the way
#: before: residue.py
exec(open("/work/residue.py").read())
