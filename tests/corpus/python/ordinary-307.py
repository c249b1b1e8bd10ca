import smtplib, os
from email.mime.text import MIMEText
m = MIMEText("report"); m["Subject"] = "Daily"
with smtplib.SMTP_SSL("smtp.example.org") as s:
    s.login(os.environ["SMTP_USER"], os.environ["SMTP_PASS"]); s.send_message(m)
