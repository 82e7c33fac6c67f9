"""Encodings of text files: recognition by the letters of languages, and conversion to UTF-8."""

from __future__ import annotations

import codecs
import io
import math
import re
from collections.abc import Sequence
from encodings.aliases import aliases
from pathlib import Path

from bochner._base.names import nearest
from bochner.files.errors import InputError

_PIECE = 1 << 22
"""Bytes that are converted at once: 4 MiB, so that memory holds one copy of a file."""

_WORDS, _SEARCHED = 2_000, 1 << 18
"""Distinct words with letters beyond ASCII that show the encoding, and bytes in which they are."""

_FEW_BROKEN = 0.02
"""Largest share of broken bytes in a damaged UTF-8 file; another encoding has nearly all."""

_MANY_ZEROS, _FEW_ZEROS = 0.2, 0.05
"""Shares of zero bytes at the places of high and low bytes of UTF-16, for text with digits."""

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"),
          (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"),
          (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip
"""Marks at the beginning of a file; UTF-32 comes first, since its mark begins as one of UTF-16."""

_WEST = ("eäöüß", "éèàêçâôîûùëïœü", "áéíóñúü¿¡ºª", "ãáçéíóêâõúôà", "äåöéšž", "æøåé", "àèòùìé")
_EAST = ("łóążęńśćź", "íáéěřčžýšůúňóťď", "áčíéšžýúľťňäôóďĺŕ", "áéőöíóüúű", "ăîâşţ", "čšžćđ")
_CYRILLIC = ("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё", "оанивіетрсклудмпзяьбгчйїхцжшюєщфґ")
_LETTERS = {"cp1252": _WEST, "cp1250": _EAST, "cp1251": _CYRILLIC, "koi8_r": _CYRILLIC[:1],
            "koi8_u": _CYRILLIC, "iso8859_2": _EAST, "cp1254": ("ıüşçöğ",),
            "cp1253": ("αοιετσνηυρπκμλςόίάέωθγδχφήβξύώζψϊϋΐΰ",),
            "cp1255": ("יוהלארתבשמםנעקחדפגטצזסןכץףך",)}  # fmt: skip
"""Letters beyond ASCII of languages, the most frequent first, by the encodings of their files.

charset-normalizer takes one of these encodings for another in a third of short tables.
"""

_OTHERS = ("cp932", "euc_jp", "gb18030", "cp949", "big5")
"""Encodings of several bytes a character, which charset-normalizer tells apart."""

_SURE = 0.62
"""Score of sure letters of a language; those of other scripts reach 0.5, read as such letters."""

_LESS = {"cp1252": 0.0, "cp1254": 0.2}
"""Scores by which encodings are less expected than Windows-1252, 0.05 if they are not listed."""

_UNLIKELY = re.compile(
    r"ñ(?![aeiou])|ń(?=[aeiouáéíóú])|ŕ(?![b-df-hj-np-tv-z])|ã(?=[b-df-np-rt-z])", re.IGNORECASE
)
"""Letters of cp1252 and cp1250 that have the same bytes, at places where words have the others."""

_SYMBOLS = frozenset("°²³µ€£§±·½\u2013—\u2018\u2019“”„…«»ºª№\u00d7®©™\xa0")
"""Signs that tables of any language have."""

_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_WORD = re.compile(rb"[^\x00-\x2f:;<=>?]+")
_ASCII, _BROKEN = bytes(range(128)), "\ufffd".encode()


def to_utf8(
    path: Path, content: bytes, requested: str | None, *, is_recorded: bool
) -> tuple[bytes, str, tuple[str, ...]]:
    """Return the content of a file as UTF-8 without a mark, its encoding, and notes on it.

    ``requested`` is the encoding that a user names, or that an earlier file had if it is recorded.
    Raises InputError for an unknown encoding, and for a content that is not text.
    """
    is_asked = requested is not None and not is_recorded
    requested = requested and _checked(requested)
    encoding = requested if is_asked else _marked(content)
    if encoding is None and (zero := content.find(b"\0")) >= 0:
        raise InputError(
            f"{path} is not text: a zero byte at offset {zero}. Expected a table of text; export "
            "it again, or name its encoding (--encoding)."
        )
    if encoding is None:
        text = content if content.isascii() else _converted(content, "utf-8", "replace")
        n_broken = 0 if text is content else text.count(_BROKEN) - content.count(_BROKEN)
        if n_broken <= _FEW_BROKEN * len(content.translate(None, _ASCII)):
            note = f"{n_broken} characters of the file are broken UTF-8 and read as \ufffd."
            return text, "utf-8", (note,) if n_broken else ()
        match = _BEYOND_ASCII.search(content)
        start = content.rfind(b"\n", 0, match.start() if match else 0) + 1
        sample = content[start : content.find(b"\n", start + _SEARCHED) % (len(content) + 1)]
        has_recorded = requested is not None and _score(_words(sample), requested) > 0.0
        encoding = str(requested) if has_recorded else _recognised(sample)
    try:
        text = _converted(content, encoding, "strict")
    except UnicodeError as error:
        advice = "name another encoding" if is_asked else "copy or export it again"
        raise InputError(
            f"{path} is damaged {encoding} ({error}): {advice} (--encoding)."
        ) from None
    note = f"The encoding of the file is {encoding}; encoding= (--encoding) names another."
    return text, encoding, () if is_asked or encoding == "utf-8-sig" else (note,)


def _checked(encoding: str) -> str:
    """Return Python's name of an encoding, or raise InputError with a similar name."""
    try:
        "".encode(encoding)  # Refuses encodings of bytes, such as base64
    except LookupError:
        near = nearest(encoding.replace("-", "_"), {*aliases, *aliases.values()})
        hint = f" Did you mean {near!r}?" if near else ""
        raise InputError(
            f"There is no encoding {encoding!r} (encoding=, --encoding).{hint} Expected a name "
            "such as utf-8, cp1252, latin-1, shift-jis, gb18030 or utf-16."
        ) from None
    name = codecs.lookup(encoding).name
    return "utf-8-sig" if name == "utf-8" else name


def _marked(content: bytes) -> str | None:
    """Return the encoding of Unicode that a mark or zero bytes show, or None."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding
    parts = [content[i:_PIECE:4] for i in range(4)]
    first, second, third, fourth = (part.count(0) / max(len(part), 1) for part in parts)
    if third == fourth == 1.0 or first == second == 1.0:
        return "utf-32-le" if fourth == 1.0 else "utf-32-be"
    even, odd = (first + third) / 2.0, (second + fourth) / 2.0
    is_wide = max(even, odd) > _MANY_ZEROS and min(even, odd) < _FEW_ZEROS
    return None if not is_wide else "utf-16-le" if odd > even else "utf-16-be"


def _converted(content: bytes, encoding: str, errors: str) -> bytes:
    """Return a content as UTF-8, converted piece by piece."""
    file, decoder = io.BytesIO(), codecs.getincrementaldecoder(encoding)(errors)
    for start in range(0, len(content), _PIECE):
        piece = content[start : start + _PIECE]
        file.write(decoder.decode(piece, start + _PIECE >= len(content)).encode())
    return file.getvalue()


def _words(content: bytes) -> list[bytes]:
    """Return distinct words with bytes beyond ASCII of a part of a content."""
    return list(dict.fromkeys(word for word in _WORD.findall(content) if not word.isascii()))


def _recognised(content: bytes) -> str:
    """Return the encoding in which the words of a content have the letters of a language."""
    from charset_normalizer import from_bytes

    words = _words(content)[:_WORDS]
    scores = {name: round(_score(words, name), 2) for name in _LETTERS}
    best = max(scores, key=scores.__getitem__)
    if scores[best] < _SURE:
        match = from_bytes(content, cp_isolation=[*_OTHERS, *_LETTERS], threshold=0.9).best()
        if match is not None and match.encoding in _OTHERS:
            return str(match.encoding)
    return best if scores[best] > -math.inf else "latin_1"


def _score(words: Sequence[bytes], encoding: str) -> float:
    """Return the mean frequency of characters beyond ASCII in a language, -inf if words fail."""
    try:
        texts = [word.decode(encoding) for word in words]
    except UnicodeDecodeError:
        return -math.inf
    if encoding not in _LETTERS:
        return 1.0
    n_bytes, family = len(b"".join(words).translate(None, _ASCII)), "".join(_LETTERS[encoding])
    scores = [sum(_word_score(text, each, family) for text in texts) for each in _LETTERS[encoding]]
    return max(scores) / n_bytes - _LESS.get(encoding, 0.05)


def _word_score(text: str, alphabet: str, family: str) -> float:
    """Return the sum of scores of the characters of a word beyond ASCII, at most one each."""
    is_latin, before = family[0] < "\u0250", ""
    score = -1.0 * len(_UNLIKELY.findall(text)) if is_latin else 0.0
    for character in text:
        low = character.lower()
        if character in _SYMBOLS:
            score += 0.5
        elif not character.isascii():
            rank = alphabet.find(low) / len(alphabet)
            score += 1.0 - 0.5 * rank if rank >= 0.0 else 0.2 if low in family else -1.0
            score -= 1.5 * (before.islower() and character.isupper())
        if before.isalpha() and not (before + character).isascii():
            # Most letters of Latin words are ASCII, and none of other scripts.
            is_mixed = before.isascii() or character.isascii()
            score -= 0.3 * (is_latin and not is_mixed) + 1.0 * (is_mixed and not is_latin)
        before = character
    return score
