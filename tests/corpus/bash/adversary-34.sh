sysctl kernel.randomize_va_space=0
