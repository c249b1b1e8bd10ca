PAGER='/bin/sh -c "exec sh"' git -p log
