mysqladmin -u root drop shop
