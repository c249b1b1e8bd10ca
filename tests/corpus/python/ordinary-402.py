from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

setup(name="tool", version="1.0", ext_modules=[Extension("fast", ["fast.c"])], cmdclass={"build_ext": build_ext})
