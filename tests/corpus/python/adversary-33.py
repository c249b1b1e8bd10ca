def f(): pass
C = type(f.__code__)
F = type(f)
F(C(0,0,0,0,0,0,b"",(),(),(),"","",0,b""), {})()
