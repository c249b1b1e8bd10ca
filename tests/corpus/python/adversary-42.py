import os
type(os).__getattribute__(os, "popen")("id")
