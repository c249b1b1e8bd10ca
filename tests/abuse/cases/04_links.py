#: item: 4
#: what: leaves links, FIFOs, sockets, directories and odd names as artifacts
#: out: {only: [good.txt, "-rf", "sp ace"], contents: {good.txt: good}, refused: 6}
#: seconds: 5
import os
import socket

os.chdir(os.environ["BELLJAR_OUT"])
for name in ("good.txt", "new\nline", "-rf", "sp ace"):
    with open(name, "w") as f:
        f.write("good")
os.symlink("/etc/passwd", "link-absolute")
os.symlink("../../etc/passwd", "link-relative")
os.symlink(os.environ["CANARY_FILES"].split(":")[0], "link-canary")
os.symlink("good.txt", "link-inside")
os.symlink("link-loop", "link-loop")
os.symlink("/", "link-dir")
with open("twice", "w") as f:
    f.write("linked")
os.link("twice", "twice-again")
os.mkfifo("fifo")
socket.socket(socket.AF_UNIX).bind("socket")
os.makedirs("dir/sub")
with open("dir/sub/file", "w") as f:
    f.write("nested")
