import smtplib

mail = smtplib.SMTP("mail.test", 25)
mail.login(user, word)
mail.sendmail(sender, [to], text)
