def mean(values):
    assert values, "there are no values"
    return sum(values) / len(values)


def delete_account(user, account):
    if not user.is_admin:
        raise PermissionError("admins only")
    account.delete()
