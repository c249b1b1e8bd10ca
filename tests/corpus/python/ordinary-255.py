import codecs
import string
def caesar(s, k):
    a = string.ascii_lowercase
    return s.translate(str.maketrans(a, a[k:] + a[:k]))
print(caesar("hello", 3), codecs.encode("hello", "rot13"))
print("".join(chr(ord(c) + 1) for c in "abc"))
