class Lexer:
    token_types = {'NUMBER': r'\d+', 'STRING': r'"[^"]*"'}
    def __init__(self, text):
        self.tokens = []
        self.token = None
    def next_token(self):
        token = self.tokens.pop(0)
        return token
