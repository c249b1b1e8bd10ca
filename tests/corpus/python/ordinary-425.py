import enum
class Kind(enum.Enum):
    PASSWORD = "password"
    TOKEN = "token"
    API_KEY = "api_key"
class S(enum.IntFlag):
    R = 4; W = 2; X = 1
print(list(Kind), S.R | S.W)
