max_tokens = 4096
tokenizer = "cl100k_base"
token_type = "bearer"
num_tokens = len("a b c".split())
token_url = "https://auth.example.com/oauth/token"
print(max_tokens, tokenizer, token_type, num_tokens, token_url)
