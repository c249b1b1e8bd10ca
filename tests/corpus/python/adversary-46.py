import contextlib, os
with contextlib.nullcontext(os) as o:
    o.system("id")
