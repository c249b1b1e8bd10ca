q="${tpl//\{db\}/\`$db\`}"
echo "$q"
