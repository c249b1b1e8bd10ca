errors = {'password': 'This field is required.', 'token': 'Invalid token.', 'api_key': 'API key missing'}
