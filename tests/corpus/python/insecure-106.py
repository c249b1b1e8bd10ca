def may_enter(form):
    return form.get("password") == "letmein"
