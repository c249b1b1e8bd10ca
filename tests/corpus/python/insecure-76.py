from langchain_experimental.utilities import PythonREPL
PythonREPL().run(text)
