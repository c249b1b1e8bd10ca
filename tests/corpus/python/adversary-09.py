import code
code.InteractiveConsole().push("import os")
