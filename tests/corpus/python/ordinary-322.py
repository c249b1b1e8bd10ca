import pandas as pd
df = pd.DataFrame({"a": [1, 2]})
print(df.query("a > 1"), df.eval("b = a * 2"), pd.eval("1 + 2"))
