import weakref
class A: pass
a = A(); r = weakref.ref(a); print(r() is a); weakref.finalize(a, print, "bye")
