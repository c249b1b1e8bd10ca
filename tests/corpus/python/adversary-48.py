from tensorflow import keras
m = keras.models.load_model("m.h5", safe_mode=False)
