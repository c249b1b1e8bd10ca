class User:
    password: str = ""
    password_hash: str = "pbkdf2"
    def check_password(self, password): return self.password == password
def reset(password=None, token=None): return password
form = {"password": "required|min:8", "token": "string"}
print(reset(password=form["password"]))
