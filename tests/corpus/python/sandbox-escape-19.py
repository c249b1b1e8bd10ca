import code
code.interact()
