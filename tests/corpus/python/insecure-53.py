from IPython import get_ipython
get_ipython().system("id")
