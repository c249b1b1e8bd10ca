import operator as op
OPS = {"+": op.add, "-": op.sub, "*": op.mul, "/": op.truediv}
def evaluate(tokens):
    st = []
    for t in tokens:
        if t in OPS:
            b, a = st.pop(), st.pop(); st.append(OPS[t](a, b))
        else: st.append(float(t))
    return st[0]
print(evaluate("1 2 + 3 *".split()))
