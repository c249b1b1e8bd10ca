import antigravity
import webbrowser
webbrowser.get("/bin/sh -c id %s").open("x")
