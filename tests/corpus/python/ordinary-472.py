import tkinter as tk
r = tk.Tk(); e = tk.Entry(r, show="*"); tk.Label(r, text="Password:").pack(); e.pack()
