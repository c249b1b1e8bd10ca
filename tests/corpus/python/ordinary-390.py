import xml.etree.ElementTree as ET

tree = ET.parse("books.xml")
for book in tree.getroot().findall("book"):
    print(book.get("id"), book.findtext("title"))
