import zmq
s = zmq.Context().socket(zmq.PULL)
s.bind("tcp://0.0.0.0:5555")
print(s.recv_pyobj())
