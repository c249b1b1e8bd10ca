from pysnmp.hlapi import CommunityData
CommunityData("public", mpModel=0)
