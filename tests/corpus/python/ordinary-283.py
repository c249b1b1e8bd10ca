import pytest
from app import create_token, verify
@pytest.mark.parametrize("token", ["", "abc", "not-a-token", "invalid.token.here"])
def test_bad(token):
    assert verify(token, secret="test-secret") is None
def test_ok():
    t = create_token({"sub": "1"}, secret="test-secret")
    assert verify(t, secret="test-secret")["sub"] == "1"
