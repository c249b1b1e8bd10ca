import pandas as pd

def load(path):
    df = pd.read_csv(path, parse_dates=["date"])
    df = df.dropna(subset=["amount"]).query("amount > 0")
    df["month"] = df["date"].dt.to_period("M")
    return df.groupby(["month", "region"], as_index=False).agg(total=("amount", "sum"))

if __name__ == "__main__":
    out = load("sales.csv")
    out.eval("share = total / total.sum()", inplace=True)
    print(out.to_string())
