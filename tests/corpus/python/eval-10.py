from builtins import eval as evaluate
evaluate("1")
