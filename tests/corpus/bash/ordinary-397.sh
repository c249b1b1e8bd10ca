createdb shop_test
mysqladmin status
gh repo view shop/site
