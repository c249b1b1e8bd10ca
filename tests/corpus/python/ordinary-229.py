import xml.etree.ElementTree as ET
root = ET.fromstring("<a><b x='1'/></a>")
for b in root.iter("b"):
    print(b.get("x"))
