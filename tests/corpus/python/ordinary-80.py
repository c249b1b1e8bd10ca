import warnings
warnings.filterwarnings("ignore")
