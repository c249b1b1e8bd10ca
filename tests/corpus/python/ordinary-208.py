import unittest
from unittest import mock

class Calc:
    def add(self, a, b): return a + b
    def eval(self, s): return float(s)
    def system(self, x): return x

class T(unittest.TestCase):
    def test_add(self):
        self.assertEqual(Calc().add(1, 2), 3)
    def test_eval(self):
        self.assertEqual(Calc().eval("2"), 2.0)
    @mock.patch("os.system")
    def test_patch(self, m):
        m.return_value = 0
        self.assertEqual(Calc().system("ls"), "ls")

if __name__ == "__main__":
    unittest.main()
