import webbrowser
webbrowser.register("x", None, webbrowser.GenericBrowser("/bin/sh"))
