import gc
gc.collect(); print(gc.get_count())
