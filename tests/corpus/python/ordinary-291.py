"""A tiny stack language; it has words called eval, exec and import of its own."""
class VM:
    def __init__(self): self.stack = []; self.words = {"dup": self.dup, "eval": self.eval_word, "exec": self.exec_word}
    def dup(self): self.stack.append(self.stack[-1])
    def eval_word(self): self.run(self.stack.pop())
    def exec_word(self): pass
    def run(self, text):
        for t in text.split():
            if t in self.words: self.words[t]()
            else: self.stack.append(int(t))
vm = VM(); vm.run("1 dup"); print(vm.stack)
