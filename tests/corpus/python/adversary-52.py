import pkgutil
pkgutil.resolve_name("os:system")("id")
