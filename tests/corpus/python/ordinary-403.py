def by_name(users, name):
    return users.find_one({"name": name})
