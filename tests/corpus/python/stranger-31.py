import os
d = dict(os.__dict__)
d["system"]("id")
