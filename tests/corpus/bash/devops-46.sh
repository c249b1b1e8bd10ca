nc -zv localhost 22
