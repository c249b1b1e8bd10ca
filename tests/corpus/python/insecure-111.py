def delete_account(user, account):
    assert user.is_admin, "admins only"
    account.delete()
