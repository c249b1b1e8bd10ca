import smtplib, os
from email.message import EmailMessage
m = EmailMessage(); m["To"] = "a@example.com"; m.set_content("x")
with smtplib.SMTP("localhost") as s:
    s.login("user", os.environ["SMTP_PASSWORD"]); s.send_message(m)
