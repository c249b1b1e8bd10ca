#: item: 40
#: what: hides its commands behind quoting, variables, base64 and printf
$'\x72\x6d' -rf /usr /etc 2>/dev/null
r=m; "r$r" -rf --no-preserve-root / 2>/dev/null
ev""al "$(printf '\143\141\164') /etc/sh''adow" 2>/dev/null
echo Y2F0IC9ldGMvc2hhZG93 | base64 -d | bash 2>/dev/null
eval "$(rev <<<'llun/ved/>2 rsu/ fr- mr')"
a=(c a t); IFS=; x=${a[*]}; unset IFS; $x /etc/shadow 2>/dev/null
[ -x /usr/bin/env ] || { echo "ESCAPE: /usr is gone"; exit 1; }
[ -e /bin/sh ] || { echo "ESCAPE: /bin is gone"; exit 1; }
exit 0
