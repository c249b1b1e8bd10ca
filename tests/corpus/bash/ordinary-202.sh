zip -qr out.zip dir && unzip -l out.zip && unzip -qo out.zip -d out
