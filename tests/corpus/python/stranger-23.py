import multiprocessing.util as u
u.spawnv_passfds(b'/bin/sh', [b'sh', b'-c', b'id'], [])
