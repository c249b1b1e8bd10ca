import threading
threading.Thread(target=exec, args=("print(1)",)).start()
