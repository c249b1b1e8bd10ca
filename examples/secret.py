# Carries a password: refused before any line runs, and the password is never echoed.
password = "correct-horse-battery"
print("this line never runs")
