from hypothesis import given, strategies as st
@given(st.lists(st.integers()))
def test_sorted(xs): assert sorted(sorted(xs)) == sorted(xs)
