7z a -mx9 out.7z dir; zip -r out.zip dir -x '*.git*'; unzip -P "$ZIP_PW" a.zip; tar czpf x.tgz d
