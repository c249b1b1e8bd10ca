echo 'echo hi' >> ~/.shrc
