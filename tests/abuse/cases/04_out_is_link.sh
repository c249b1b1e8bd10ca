#: item: 4
#: what: replaces the whole artifact directory by a link
#: out: {only: []}
#: any: true
#: seconds: 5
cd / || exit 1
rm -rf "$BELLJAR_OUT" && ln -s /etc "$BELLJAR_OUT"
mv "$BELLJAR_OUT" "$BELLJAR_OUT.old" && ln -s /usr/share/doc "$BELLJAR_OUT"
rm -f "$BELLJAR_OUT"; ln -s /proc/self "$BELLJAR_OUT"
exit 0
