"""What tests look for in measurements and in the pages made of them."""


def metrics_of(rows, part):
    """Return the names of metrics by data set and method."""
    found = {}
    for row in rows:
        if row["part"] == part:
            found.setdefault((row["dataset"], row["method"]), set()).add(row["metric"])
    return found


def table_lines(page):
    """Return the lines of all tables of a page by their first cell."""
    found = {}
    for line in page.splitlines():
        if line.startswith("| "):
            first, *rest = (cell.strip() for cell in line.strip("|").split("|"))
            found.setdefault(first, []).append(rest)
    return found


def pictures_of(benchmark):
    """Return the pictures of all parts, in the order of the page."""
    names = benchmark.order or [part.name for part in benchmark.parts]
    parts = {part.name: part for part in benchmark.parts}
    return [picture for name in names for picture in parts[name].pictures]


def values_by_picture(benchmark, rows):
    """Return what every picture draws of its part's rows, by name."""
    return {
        picture.name: picture.values(own) if (own := benchmark.rows_of(part, rows)) else {}
        for part in benchmark.parts
        for picture in part.pictures
    }
