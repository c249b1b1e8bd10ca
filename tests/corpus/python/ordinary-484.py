user.set_password(form.cleaned_data["password"]); keyring.set_password("svc", user, pw)
