#!/usr/bin/env python3
# The # of a comment is no heading.
def level(x):
    """Return <x> in *centimetres*."""
    if x < 0:
        return None


    return x * 2.54
