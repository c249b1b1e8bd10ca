import pytest
@pytest.fixture
def client(tmp_path, monkeypatch):
    monkeypatch.setenv("API_KEY", "test")
    monkeypatch.setenv("SECRET_KEY", "test-secret")
    return object()
@pytest.mark.parametrize("n,e", [(1, 1), (2, 4)])
def test_sq(n, e):
    assert n * n == e
