import unittest
from unittest import mock
class T(unittest.TestCase):
    def test_a(self):
        with mock.patch("os.getcwd", return_value="/x") as m:
            self.assertEqual(m(), "/x")
if __name__ == "__main__":
    unittest.main()
