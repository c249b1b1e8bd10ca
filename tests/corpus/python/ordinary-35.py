from decimal import Decimal, getcontext
getcontext().prec = 50
print(Decimal(2).sqrt())
