password_hash = bcrypt.hashpw(password.encode(), bcrypt.gensalt())
if not check_password(user.password, password): raise ValueError
token = request.headers.get('X-Token')
