fields = ['username', 'password', 'secret', 'token']
labels = {'password': 'Password', 'secret': 'Client secret', 'token': 'Access token'}
url = 'https://user:password@example.com'
