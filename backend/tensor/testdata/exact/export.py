"""Writes exact values of functions at random and difficult places, computed by mpmath with 60 digits.

    python3 export.py 24 > exact.txt

A line has the function, its arguments, and the value as the sum of two numbers, all as hexadecimal numbers of 64 bits.
"""
import random
import sys

import mpmath as mp

mp.mp.dps = 60
PI = float(mp.pi)
TINY, SMALL = (5e-324, 1e-300), (1e-12, 1e-3)

# name: function, and ranges of the magnitude of its argument with signs.
FUNCTIONS = {
    "exponential": (mp.exp, [(1e-12, 700, "+-")]),
    "exponential_minus_one": (mp.expm1, [(1e-300, 700, "+-")]),
    "log": (mp.log, [(1e-300, 1e300, "+"), (0.9, 1.1, "+")]),
    "log_plus_one": (lambda x: mp.log1p(x), [(1e-300, 1e300, "+"), (1e-12, 0.99, "-")]),
    "logistic": (lambda x: 1 / (1 + mp.exp(-x)), [(1e-12, 700, "+-")]),
    "sine": (mp.sin, [(1e-300, 1, "+-"), (1, 1e15, "+-"), (1e15, 1e300, "+-"), (3.1, 3.2, "+-")]),
    "cosine": (mp.cos, [(1e-300, 1, "+-"), (1, 1e15, "+-"), (1e15, 1e300, "+-"), (1.57, 1.572, "+-")]),
    "tan": (mp.tan, [(1e-300, 1, "+-"), (1, 1e15, "+-")]),
    "tanh": (mp.tanh, [(1e-300, 20, "+-")]),
    "sinh": (mp.sinh, [(1e-300, 710, "+-"), (0.1, 1.5, "+-")]),
    "cosh": (mp.cosh, [(1e-12, 710, "+-")]),
    "asin": (mp.asin, [(1e-300, 1, "+-"), (0.9, 1, "+-")]),
    "acos": (mp.acos, [(1e-12, 1, "+-"), (0.9, 1, "+-")]),
    "atan": (mp.atan, [(1e-300, 1e300, "+-")]),
    "asinh": (mp.asinh, [(1e-300, 1e300, "+-")]),
    "acosh": (mp.acosh, [(1, 1e300, "+"), (1, 1.1, "+")]),
    "atanh": (mp.atanh, [(1e-300, 1, "+-")]),
    "sqrt": (mp.sqrt, [(1e-300, 1e300, "+")]),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), [(1e-300, 1e300, "+")]),
    "cbrt": (mp.cbrt, [(1e-300, 1e300, "+")]),
    "erf": (mp.erf, [(1e-300, 6, "+-")]),
    "erfc": (mp.erfc, [(1e-12, 26, "+-")]),
    "erf_inv": (mp.erfinv, [(1e-12, 0.999999, "+-")]),
    "lgamma": (lambda x: mp.log(abs(mp.gamma(x))), [(1e-12, 150, "+"), (0.9, 2.1, "+"), (0.1, 20, "-")]),
    "digamma": (mp.digamma, [(1e-12, 1e12, "+"), (0.1, 20, "-"), (1.4, 1.5, "+")]),
    "bessel_i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), [(1e-12, 1e5, "+-")]),
    "power": (lambda x, y: mp.power(x, y), [(1e-30, 1e30, "+")]),
    "atan2": (lambda y, x: mp.atan2(y, x), [(1e-30, 1e30, "+-")]),
}


def magnitude(rng, low, high):
    if high / low < 4:
        return rng.uniform(low, high)
    return float(mp.exp(rng.uniform(float(mp.log(low)), float(mp.log(high)))))


def main():
    rng = random.Random(7)
    for name, (f, ranges) in FUNCTIONS.items():
        for k in range(int(sys.argv[1])):
            low, high, signs = ranges[k % len(ranges)]
            args = [magnitude(rng, low, high) * (1 if s == "+" else -1) for s in [rng.choice(signs)]]
            if name == "power":
                args.append(rng.uniform(-8, 8))
            if name == "atan2":
                args.append(magnitude(rng, low, high) * rng.choice([1, -1]))
            value = f(*[mp.mpf(a) for a in args])
            high_part = float(value)
            if abs(high_part) < 1e-300 or abs(high_part) > 1.7e308:
                continue
            print(name, *[a.hex() for a in args + [high_part, float(value - mp.mpf(high_part))]])


main()
