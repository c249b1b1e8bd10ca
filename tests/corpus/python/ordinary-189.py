import xml.etree.ElementTree as ET
t = ET.Element("a"); ET.SubElement(t, "b").text = "x"
print(ET.tostring(t))
