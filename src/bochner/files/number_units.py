"""Units, currencies and magnitudes that stand after a number."""

from __future__ import annotations

from collections.abc import Mapping

from bochner.files.local_numbers import SPACES

_DIMENSIONS = (
    "mm|cm|dm|m|km|in|ft|yd|mi|nm|µm|μm|mm2|cm2|m2|km2|mm²|cm²|m²|km²|sqm|sqft|sq|ha|acres?|"
    "ml|cl|dl|l|hl|ML|L|mL|m3|cm3|m³|cm³|gal|oz|floz|pt|qt|"
    "ng|µg|μg|mcg|mg|g|kg|t|lb|lbs|st|"
    "ns|µs|μs|ms|s|sec|secs|min|mins|h|hr|hrs|d|days?|weeks?|wk|wks|months?|mo|mos|mths|years?|yrs?|"
    "Hz|kHz|MHz|GHz|V|mV|kV|A|mA|W|kW|MW|GW|kWh|MWh|Wh|J|kJ|MJ|cal|kcal|N|kN|Nm|Pa|hPa|kPa|MPa|GPa|"
    "bar|mbar|psi|atm|K|C|F|°C|°F|°|deg|rad|dB|mol|mmol|M|mM|µM|nM|ppm|ppb|lx|lm|cd|Ω|ohms?|kΩ|"
    "km/h|kmh|kph|mph|m/s|ft/s|kn|rpm|bpm|g/l|mg/l|mg/dl|mg/dL|mmol/l|mmol/L|g/dl|g/dL|g/L|mg/L|"
    "µg/l|µg/L|µg/m3|µg/m³|mg/kg|kg/m2|kg/m²|kg/m3|kg/m³|t/ha|kg/ha|l/100km|mpg|kmpl|km/l|km/kg|"
    "bhp|hp|PS|cc|ccm|CC|rooms?|pcs|px|mmHg|"
    "B|kB|KB|MB|GB|TB|PB|bit|Mbit|Gbit|Mbps|Gbps|pct|percent|bp|bps|x"
)
"""Units that are known even without a space before them. Letters such as the A of 12A are units
only if nearly all entries have the same one."""

_MAGNITUDES: Mapping[str, int] = {
    "k": 3, "K": 3, "thousand": 3, "Tsd": 3, "tsd": 3,
    "M": 6, "mn": 6, "Mn": 6, "mln": 6, "Mio": 6, "mio": 6, "million": 6, "millions": 6,
    "B": 9, "bn": 9, "Bn": 9, "Mrd": 9, "mrd": 9, "billion": 9, "billions": 9,
    "tn": 12, "trillion": 12, "lakh": 5, "lakhs": 5, "lac": 5, "crore": 7, "crores": 7,
}  # fmt: skip
"""Powers of ten that are written as a word or a letter."""

_LONGEST_LETTER = 1
"""Letters of magnitudes that stand directly after the number: 5 K is a temperature, 5K is 5000."""

_NO_UNITS = frozenset(("st", "nd", "rd", "th", "am", "pm", "a.m.", "p.m.", "AM", "PM", "bc", "ad"))
"""Words after a number that make it an order, a time or a year."""

_KNOWN = frozenset(
    part.removesuffix("?") for part in _DIMENSIONS.replace("yrs?", "yr|yrs").split("|")
)
_CURRENCY_SIGNS = frozenset((
    "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₪", "US$", "R$", "A$", "C$", "USD", "EUR", "GBP",
    "CHF", "JPY", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "Fr", "kr", "zł", "Rs",
))  # fmt: skip
"""Units of money, as `CURRENCIES` matches them."""


def read_suffix(text: str) -> tuple[int, str] | None:
    """Return the power of ten and the unit of what stands after a number, or None."""
    word = text.strip(SPACES)
    is_apart = word != text
    if not word or word in _NO_UNITS:
        return None if word else (0, "")
    power = _MAGNITUDES.get(word.removesuffix("."))
    if power is not None and not (is_apart and len(word) == _LONGEST_LETTER):
        return power, ""
    if word in _KNOWN or word in _CURRENCY_SIGNS or word in "%‰":
        return 0, word
    if word[1:] in _CURRENCY_SIGNS and word[0] in _MAGNITUDES:  # k€
        return _MAGNITUDES[word[0]], word[1:]
    return (0, word) if is_apart else None


def is_currency(unit: str) -> bool:
    """Return whether a unit is one of money, which amounts may lack."""
    return unit in _CURRENCY_SIGNS


def is_unit(text: str) -> bool:
    """Return whether a text is a known unit."""
    return text in _KNOWN or text in _CURRENCY_SIGNS or text in ("%", "‰")


def is_certain(unit: str) -> bool:
    """Return whether a text is a unit and hardly anything else, such as the A of the seat 12A."""
    if len(unit) == 1 and unit.isalpha() and unit.isupper():
        return False
    return unit in _KNOWN or unit in _CURRENCY_SIGNS or unit in ("%", "‰", "none")
