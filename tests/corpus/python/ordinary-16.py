class Interpreter:
    def eval(self, node):
        return getattr(self, "eval_" + node.kind)(node)
    def exec(self, program):
        for node in program:
            self.eval(node)
