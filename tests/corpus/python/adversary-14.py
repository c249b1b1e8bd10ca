import os
[v for k, v in os.__dict__.items() if k == "system"][0]("id")
