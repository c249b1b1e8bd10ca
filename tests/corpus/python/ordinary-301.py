import pandas as pd
df = pd.read_excel("in.xlsx", sheet_name="Q1")
df["full"] = df.apply(lambda r: f"{r['first']} {r['last']}", axis=1)
df.pivot_table(index="region", columns="month", values="sales", aggfunc="sum").to_csv("out.csv")
