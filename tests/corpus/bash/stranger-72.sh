bq rm -r -f shop:orders
