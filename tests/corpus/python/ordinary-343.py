import pytest
@pytest.fixture
def creds():
    return {'username': 'user', 'password': 'changeme', 'api_key': 'test-api-key', 'token': 'fake-token'}
