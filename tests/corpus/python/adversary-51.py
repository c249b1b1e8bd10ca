import pydoc
pydoc.pipepager("x", "id")
