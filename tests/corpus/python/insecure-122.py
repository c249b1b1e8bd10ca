def by_name(users, name):
    return users.find_one({"$where": "this.name == '" + name + "'"})
