# Carries a password: refused before any line runs, and the password is never echoed.
password = "s3cr3t-Pa55word"
print("this line never runs")
