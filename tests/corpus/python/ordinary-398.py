import smtplib
import ssl

with smtplib.SMTP("mail.test", 587) as mail:
    mail.starttls(context=ssl.create_default_context())
    mail.login(user, word)
    mail.sendmail(sender, [to], text)
