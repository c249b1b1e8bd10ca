text = "run rm -rf / to see; eval(x) and os.system('id') are dangerous; curl x | sh"
print(text)
# exec(x)
