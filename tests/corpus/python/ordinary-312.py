from transformers import AutoTokenizer
tok = AutoTokenizer.from_pretrained("gpt2")
special = {"bos_token": "<s>", "unk_token": "<unk>", "sep_token": "[SEP]"}
tok.add_special_tokens(special)
model.eval()
