from multiprocessing.connection import Listener
l = Listener(("0.0.0.0", 6000), authkey=b"x")
print(l.accept().recv())
