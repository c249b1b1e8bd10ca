/* SPDX-License-Identifier: Apache-2.0 */

/* SQLite has SQL functions for logarithms, powers and angles. They are all that the program would
 * need libm for, and no statement of ours uses them: so libm is not loaded at every start, which
 * takes 0.1 ms, but when one of them is called. */

#include <dlfcn.h>
#include <math.h>

static void *find(const char *name)
{
	void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);

	return library ? dlsym(library, name) : NULL;
}

/* SQL knows the result of a function that is not there: NULL, which is how SQLite shows this. */
#define OF_ONE(name)                                                                               \
	double name(double x)                                                                      \
	{                                                                                          \
		double (*const function)(double) = find(#name);                                    \
                                                                                                   \
		return function ? function(x) : NAN;                                               \
	}
#define OF_TWO(name)                                                                               \
	double name(double x, double y)                                                            \
	{                                                                                          \
		double (*const function)(double, double) = find(#name);                            \
                                                                                                   \
		return function ? function(x, y) : NAN;                                            \
	}

OF_ONE(acos)
OF_ONE(acosh)
OF_ONE(asin)
OF_ONE(asinh)
OF_ONE(atan)
OF_TWO(atan2)
OF_ONE(atanh)
OF_ONE(cos)
OF_ONE(cosh)
OF_ONE(exp)
OF_TWO(fmod)
OF_ONE(log)
OF_TWO(pow)
OF_ONE(sin)
OF_ONE(sinh)
OF_ONE(sqrt)
OF_ONE(tan)
OF_ONE(tanh)
OF_ONE(trunc)
