greeting = "Hello, " + name + "! Your token balance is " + str(n) + " tokens."
msg = "Wrong password. " "Try again or reset it at " "https://example.com/reset"
