"""The arithmetic of speculative decoding: pure functions on numbers and numpy arrays, no I/O, no YAML.

Units everywhere: times in milliseconds, rates in tokens per second, sizes in bytes, acceptances between 0 and 1.
Time arguments of functions that only form ratios may be in any one unit.

    acceptance   the four acceptance quantities and how one follows from another
    rounds       the round from its parts, and rates and request times from the round
    verify       what a target pass over several rows costs
    experts      the same for mixture-of-experts targets, from the distinct experts that are read
    roofline     step times from bytes and flops
    break_even   the acceptance at which a candidate equals the incumbent
    samples      how many rounds settle a sign
    sampling_error   how far a measured acceptance may lie from the true one
    bounds       limits that no honest pair of numbers breaks
    interval     a value with its two ends, and functions carried over the ends
    domain       the array types, the lift from numbers to arrays, and the checks of arguments

A function marked `vectorised` takes floats or arrays that broadcast and gives a float when every argument was a
number. NaN, infinity and arguments outside their domain raise ValueError; a caller turns that into an unknown.
"""
