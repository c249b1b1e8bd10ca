import xml.etree.ElementTree as ET
root = ET.fromstring("<a><b/></a>")
print([c.tag for c in root])
