import tkinter as tk, time
root = tk.Tk(); lab = tk.Label(root); lab.pack()
def tick():
    lab.config(text=time.strftime("%H:%M:%S")); root.after(1000, tick)
tick(); root.mainloop()
