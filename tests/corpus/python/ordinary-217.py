import pytest

@pytest.fixture
def creds():
    return {"username": "test", "password": "test", "token": "dummy-token", "api_key": "xxx"}

def test_login(creds):
    assert creds["password"] == "test"
    fake_token = "FAKE"
    headers = {"Authorization": f"Bearer {fake_token}"}
    assert headers
