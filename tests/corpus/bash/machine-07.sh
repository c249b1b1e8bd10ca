docker run -v /:/host alpine chroot /host
