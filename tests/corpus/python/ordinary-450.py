class Lexer:
    TOKEN_RE = r"(?P<NUM>\d+)|(?P<OP>[-+*/])"
    def tokens(self, s):
        import re
        for m in re.finditer(self.TOKEN_RE, s): yield m.lastgroup, m.group()
token = next(Lexer().tokens("1+2"))
next_token = "EOF"
