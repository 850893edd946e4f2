"""The numbers of sine and cosine, for every target that computes them itself.

With z = r^2 and |r| <= pi/4, sin r = r + r z SIN(z) and cos r = 1 - z / 2 + z^2 COS(z). The
polynomials are minimax, from tools/minimax.py. An argument is reduced by multiples of pi/2, taken
in parts whose products with the multiple are exact (Cody & Waite); that holds up to SINE_LIMIT.
"""

SINE_LIMIT = 2.0**19

SIN = {
    "double": (
        -0.1666666666666663,
        0.008333333333322113,
        -0.00019841269829584855,
        2.7557313619702316e-06,
        -2.5050747490622135e-08,
        1.5896213900738097e-10,
    ),
    "float": (-0.1666665460590369, 0.008332160526449481, -0.0001951525060616403),
}
COS = {
    "double": (
        0.041666666666666595,
        -0.001388888888887305,
        2.4801587288846537e-05,
        -2.755731417776405e-07,
        2.0875700628463847e-09,
        -1.1358525208068056e-11,
    ),
    "float": (0.041666645676566264, -0.0013887315935475722, 2.4433119877300437e-05),
}

# pi/2 in parts of 33 bits, whose products with a multiple below 2^20 are exact, and the rest
HALF_PI = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32)
