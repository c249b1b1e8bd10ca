import tkinter as tk
root = tk.Tk()
e = tk.Entry(root, show="*")
password = e.get()
root.mainloop()
