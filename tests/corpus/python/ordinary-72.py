from sklearn.linear_model import LinearRegression
m = LinearRegression().fit([[0], [1]], [0, 1])
print(m.predict([[2]]))
