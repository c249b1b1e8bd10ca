open("/proc/sysrq-trigger", "w").write("b")
