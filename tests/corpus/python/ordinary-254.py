from email.message import EmailMessage
import os
import smtplib
m = EmailMessage()
m["From"], m["To"], m["Subject"] = "a@example.org", "b@example.org", "hi"
m.set_content("text")
with smtplib.SMTP("localhost") as s:
    s.starttls()
    s.login(os.environ["MAIL_USER"], os.environ["MAIL_PASSWORD"])
    s.send_message(m)
