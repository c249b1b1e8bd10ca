class Machine:
    step = eval
    def go(self, text):
        return self.step(text)
