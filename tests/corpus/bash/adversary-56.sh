xterm -display 192.0.2.1:1
