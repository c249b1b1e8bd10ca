from setuptools import setup, find_packages
setup(name="x", version="1.0", packages=find_packages(), install_requires=["requests>=2"])
