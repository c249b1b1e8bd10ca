def load_note(user_input):
    with open("notes/" + user_input) as f:
        return f.read()
