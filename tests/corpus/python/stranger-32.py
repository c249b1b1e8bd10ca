import webbrowser
webbrowser.get("sh -c '%s'").open(x)
