import popen2
popen2.popen3("id")
