match eval:
    case f:
        f("1")
