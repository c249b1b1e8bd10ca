getattr(len.__self__, "ex" "ec")("print(1)")
