import openpyxl
wb = openpyxl.load_workbook("x.xlsx", read_only=True)
ws = wb.active
for row in ws.iter_rows(min_row=2, values_only=True):
    print(row)
