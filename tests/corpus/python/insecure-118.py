from setuptools import setup
from setuptools.command.install import install


class After(install):
    def run(self):
        install.run(self)
        greet()


setup(name="tool", version="1.0", cmdclass={"install": After})
