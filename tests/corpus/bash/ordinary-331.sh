sqlite3 app.db 'DELETE FROM sessions WHERE expires < 1'
