from enum import Enum
import tomllib
class Mode(Enum):
    PASSWORD = "password"
    TOKEN = "token"
    API_KEY = "api_key"
with open("pyproject.toml", "rb") as f:
    print(tomllib.load(f)["project"]["name"], Mode("token"))
