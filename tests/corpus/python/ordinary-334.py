import pandas as pd
df = pd.read_csv('sales.csv')
df = df.query('price > 10 and region == "eu"')
df['total'] = df.eval('price * qty')
print(df.groupby('region').total.sum())
