# os.system("rm -rf /") would be bad
text = "do not call eval() or exec()"
print(text)
