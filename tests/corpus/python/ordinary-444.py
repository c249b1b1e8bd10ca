import xml.etree.ElementTree as ET
root = ET.parse("x.xml").getroot()
for e in root.iter("item"): print(e.get("id"), e.text)
