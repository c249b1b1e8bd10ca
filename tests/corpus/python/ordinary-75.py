import fractions
print(fractions.Fraction(1, 3) + fractions.Fraction(1, 6))
