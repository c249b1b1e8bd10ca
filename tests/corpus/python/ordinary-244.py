import operator
import re
OPS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
def ev(s):
    st = []
    for t in s.split():
        if t in OPS:
            b, a = st.pop(), st.pop()
            st.append(OPS[t](a, b))
        else:
            st.append(float(t))
    return st[0]
print(ev("1 2 + 3 *"))
