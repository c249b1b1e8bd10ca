sqlite3 shop.db "select count(*) from orders"
sqlite3 shop.db "delete from orders where id = 7"
