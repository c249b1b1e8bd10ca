def search(table, name):
    return table.scan(FilterExpression="owner = " + name)
