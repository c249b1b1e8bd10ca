import xml.etree.ElementTree as ET
root = ET.Element('a')
ET.SubElement(root, 'b').text = 'x'
print(ET.tostring(root))
