"""What tests look for in the pages made of measurements."""


def rows_of(method, metric, *values, **settings):
    """Return the rows of one cell, with a seed for each value."""
    return [
        {"method": method, "metric": metric, "seed": seed, "value": value, **settings}
        for seed, value in enumerate(values)
    ]


def pictures_of(benchmark):
    """Return the pictures of all parts, in the order of the page."""
    names = benchmark.order or [part.name for part in benchmark.parts]
    parts = {part.name: part for part in benchmark.parts}
    return [picture for name in names for picture in parts[name].pictures]
