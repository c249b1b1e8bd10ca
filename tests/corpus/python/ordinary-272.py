class Account:
    def __init__(self, owner, pin):
        self.owner = owner
        self._pin = pin
        self.balance = 0
    def check(self, pin):
        return pin == self._pin
    def __eq__(self, o):
        return self.owner == o.owner
a = Account("x", "1234")
print(a.check(input("pin: ")))
