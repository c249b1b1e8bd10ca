import openpyxl
wb = openpyxl.Workbook(); ws = wb.active; ws.append(["a", 1]); wb.save("x.xlsx")
