"""Set the token first:

    export SLACK_TOKEN=xoxb-your-token-here
    export OPENAI_API_KEY=sk-...
    client = Client(api_key="YOUR_API_KEY")
"""
EXAMPLE = "AKIAIOSFODNN7EXAMPLE"
api_key = "<API_KEY>"
password = "********"
secret = "changeme"
token = "${TOKEN}"
passwd = "{{ vault_password }}"
