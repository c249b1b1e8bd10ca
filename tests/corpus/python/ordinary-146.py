from openai import OpenAI
client = OpenAI()
r = client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "hi"}], max_tokens=100)
print(r.choices[0].message.content)
