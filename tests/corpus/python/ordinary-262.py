import cmd
class S(cmd.Cmd):
    prompt = "> "
    def do_add(self, line):
        a, b = line.split()
        print(int(a) + int(b))
    def do_exec(self, line): print("no")
    def do_EOF(self, line): return True
S().cmdloop()
