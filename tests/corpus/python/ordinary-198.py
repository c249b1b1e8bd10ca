import logging
logging.info("x", extra={"where": "here"})
def extra(where): return where
extra(where="a" + "b")
