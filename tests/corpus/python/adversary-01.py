import operator
operator.attrgetter("__class__.__base__.__subclasses__")(())()
