[f("1") for g in [0] if (f := eval)]
