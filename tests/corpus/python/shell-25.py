import commands
commands.getoutput('id')
