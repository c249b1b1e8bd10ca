import joblib
model = joblib.load('m.joblib')
