eval 'echo hi'
