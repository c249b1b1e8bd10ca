HELP = ("usage: tool [--password FILE] [--token FILE]\n"
        "  --password FILE  read the password from a file\n"
        "  --token FILE     read the token from a file\n")
print(HELP)
