rails db:drop
python manage.py flush --noinput
