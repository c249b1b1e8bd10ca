from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
a, b, c, d = train_test_split(X, y, random_state=0)
m = LogisticRegression(max_iter=1000).fit(a, c)
print(m.score(b, d))
