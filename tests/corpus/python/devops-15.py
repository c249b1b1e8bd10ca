import importlib, pkgutil, plugins
for m in pkgutil.iter_modules(plugins.__path__):
    importlib.import_module(f"plugins.{m.name}")
