secret_word = "banana"
guess = input("Guess the secret word: ")
print("yes" if guess == secret_word else "no")
