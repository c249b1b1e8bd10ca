rails db:migrate
python manage.py migrate --noinput
npx prisma migrate deploy
alembic upgrade head
