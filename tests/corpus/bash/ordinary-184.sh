sqlite3 db.sqlite 'select count(*) from t;'
sqlite3 db.sqlite <<'S'
delete from t where id = 1;
drop table if exists tmp;
S
