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
