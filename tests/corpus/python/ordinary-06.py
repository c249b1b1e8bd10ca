import pandas as pd
df = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
print(df.eval("a + b"))
print(df.query("a > 1"))
