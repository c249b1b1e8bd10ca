tree.xpath("//user[name='" + n + "']")
