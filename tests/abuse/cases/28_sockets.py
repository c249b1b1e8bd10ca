#: item: 28
#: what: looks for sockets of the engine, the bus and the desktop
import os
import socket
import stat

from probe import check, done

paths = ["/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock",
         "/run/podman/podman.sock", "/run/dbus/system_bus_socket", "/run/systemd/private",
         "/run/systemd/journal/socket", "/run/systemd/notify", "/dev/log", "/run/snapd.socket",
         "/tmp/.X11-unix/X0", "/run/user/0/bus", "/run/user/1000/bus", "/run/crio/crio.sock",
         "/run/udev/control", "/run/lxd.socket", os.environ["CANARY_SOCKET"]]
for path in paths:
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(path)
        check("connected to " + path, False)
    except OSError:
        check("", True)
for name in ("\0" + os.environ["CANARY_NAME"], "\0/tmp/.X11-unix/X0", "\0/run/systemd/notify",
             "\0/org/kernel/linux/storage/multipathd", "\0/containerd-shim/x", "\0/var/run/dbus"):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        s = socket.socket(socket.AF_UNIX, kind)
        try:
            s.connect(name)
            check(f"connected to {name!r}", False)
        except OSError:
            check("", True)
for top, dirs, files in os.walk("/"):
    if top == "/":
        dirs[:] = [d for d in dirs if d not in ("proc", "usr")]
    for name in files:
        try:
            mode = os.lstat(os.path.join(top, name)).st_mode
        except OSError:
            continue
        check(f"a socket at {top}/{name}", not stat.S_ISSOCK(mode))
for name in ("DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "SSH_AUTH_SOCK", "DISPLAY",
             "XDG_RUNTIME_DIR", "NOTIFY_SOCKET", "LISTEN_FDS", "SUDO_USER", "BELLJAR_NATIVE_CGROUP"):
    check(f"{name} is set", name not in os.environ)
done()
