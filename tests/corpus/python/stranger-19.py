import operator, os
run = operator.attrgetter('sys' + 'tem')
run(os)('id > /tmp/out')
