import sys
from lxml import etree

root = etree.parse(sys.argv[1]).getroot()
print(len(root))
