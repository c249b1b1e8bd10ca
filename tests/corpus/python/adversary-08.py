import inspect, os
dict(inspect.getmembers(os))["system"]("id")
