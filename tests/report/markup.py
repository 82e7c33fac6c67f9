"""Reads a page strictly: every tag is closed in order, and elements can be looked up."""

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """The elements of a page, with their attributes, texts and ancestors."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.faults, self._open = [], [], []
        self.feed(text)
        self.close()
        self.faults += [f"<{element.tag}> is not closed" for element in self._open]

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        if len(set(names)) < len(names):
            self.faults.append(f"<{tag}> has an attribute twice: {names}")
        element = Element(tag, dict(attrs), list(self._open))
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.elements.append(Element(tag, dict(attrs), list(self._open)))

    def handle_endtag(self, tag):
        if not self._open or self._open[-1].tag != tag:
            within = self._open[-1].tag if self._open else "nothing"
            self.faults.append(f"</{tag}> closes <{within}>")
        if self._open:
            self._open.pop()

    def handle_data(self, data):
        for element in self._open:
            element.text += data

    def all(self, tag, **attributes):
        """Return the elements of a tag with such attributes."""
        return [
            element
            for element in self.elements
            if element.tag == tag
            and all(element.attributes.get(name) == value for name, value in attributes.items())
        ]

    def within(self, parent, tag):
        """Return the elements of a tag inside another element."""
        return [e for e in self.elements if e.tag == tag and parent in e.ancestors]

    def table(self, title):
        """Return the cells of a table's body as texts, by its title."""
        found = [t for t in self.all("table") if self.within(t, "caption")[0].text == title]
        rows = [row for row in self.within(found[0], "tr") if not self._is_head(row)]
        return [
            [e.text for e in self.elements if e.tag in ("th", "td") and row in e.ancestors]
            for row in rows
        ]

    def _is_head(self, row):
        return any(element.tag == "thead" for element in row.ancestors)


class Element:
    """An element of a page."""

    def __init__(self, tag, attributes, ancestors):
        self.tag, self.attributes, self.ancestors, self.text = tag, attributes, ancestors, ""

    def __repr__(self):
        return f"<{self.tag} {self.attributes}>"
