import pytest
@pytest.fixture
def user(): return {"name": "a", "password": "test"}
@pytest.mark.parametrize("a,b", [(1, 1)])
def test_x(a, b, user): assert a == b and user["password"]
