from sklearn.model_selection import train_test_split
from sklearn.linear_model import LogisticRegression
X, y = load(); a, b, c, d = train_test_split(X, y)
print(LogisticRegression().fit(a, c).score(b, d))
