nc -zv localhost 5432; timeout 5 bash -c '</dev/tcp/localhost/5432' && echo up
