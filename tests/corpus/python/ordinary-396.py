import hmac


def may_enter(password, stored):
    if password == "":
        return False
    return hmac.compare_digest(digest(password), stored)


def kind_of(field):
    return "hidden" if field == "password" else "text"
