import webbrowser
webbrowser.open("https://example.com"); webbrowser.get("firefox").open_new_tab("https://x.y")
