import unittest
from unittest import mock
class T(unittest.TestCase):
    def test_login(self):
        with mock.patch("app.auth.check", return_value=True) as m:
            self.assertTrue(m("user", "password"))
    def test_bad_password(self):
        self.assertFalse(check_password("wrong-password", None))
if __name__ == "__main__":
    unittest.main()
