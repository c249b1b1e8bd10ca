REG = {}
def register(name):
    def deco(f):
        REG[name] = f
        return f
    return deco
@register("upper")
def upper(s): return s.upper()
@register("rev")
def rev(s): return s[::-1]
import sys
print(REG[sys.argv[1]](sys.argv[2]))
