import unittest
class T(unittest.TestCase):
    def test_login(self):
        self.client.login(username='test', password='test')
        self.assertTrue(check_password('password', make_password('password')))
