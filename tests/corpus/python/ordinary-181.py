import traceback, sys
try: 1/0
except ZeroDivisionError:
    traceback.print_exc(); et, ev, tb = sys.exc_info(); print(tb.tb_lineno)
