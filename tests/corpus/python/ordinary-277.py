from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
X, y = load_iris(return_X_y=True)
Xa, Xb, ya, yb = train_test_split(X, y, random_state=0)
g = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1, 10]}, cv=5)
g.fit(Xa, ya)
print(g.best_params_, g.score(Xb, yb))
