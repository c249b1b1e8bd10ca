import calendar
print(calendar.month(2024, 1))
