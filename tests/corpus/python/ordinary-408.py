import pandas as pd
df = pd.read_csv("data.csv", parse_dates=["date"])
df["month"] = df["date"].dt.to_period("M")
out = df.groupby("month").agg(total=("amount", "sum"), n=("id", "count"))
print(df.query("amount > 10").eval("x = amount * 2"))
out.to_json("out.json", orient="records")
