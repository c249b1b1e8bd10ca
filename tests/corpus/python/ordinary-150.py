import pandas as pd
df = pd.read_csv("x.csv")
df = df.query("age > 30 and city == 'Oslo'")
df["z"] = df.eval("a + b")
print(df.groupby("city").agg({"age": "mean"}))
df.to_parquet("out.parquet")
