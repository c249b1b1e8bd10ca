dropdb --if-exists shop
