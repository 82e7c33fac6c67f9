"""Files of tables: their endings, their decompressed content, and the encodings of text."""

from __future__ import annotations

import codecs
import io
import math
import os
import re
import sys
import zipfile
from collections import Counter
from encodings.aliases import aliases
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import cast

from bochner._base.file_writing import absence
from bochner._base.names import nearest
from bochner.files.errors import InputError

TEXT_ENDINGS = (".csv", ".tsv", ".txt")
BINARY_ENDINGS = (
    ".parquet", ".feather", ".xlsx", ".xlsm", ".xls", ".xlsb", ".ods", ".sqlite", ".sqlite3", ".db",
)  # fmt: skip
_ALL = (*TEXT_ENDINGS, *BINARY_ENDINGS)
_STANDARD_INPUT = "-"

_MOST_LISTED = 5  # Files of a directory or of an archive that an error message lists
_PACKED = {
    ".gz": (b"\x1f\x8b", "gzip", "gzip"),
    ".bz2": (b"BZh", "bzip2", "bz2"),
    ".xz": (b"\xfd7zXZ", "xz", "lzma"),
    ".zst": (b"\x28\xb5\x2f\xfd", "Zstandard", ""),
    ".zip": (b"PK\x03\x04", "zip", ""),
}
"""First bytes, name and Python's module of each compression."""

COMPRESSIONS = tuple(_PACKED)

_STORED = {
    b"PAR1": "a Parquet file: rename it to .parquet",
    b"ARROW1": "a Feather file: rename it to .feather",
    b"SQLite format 3\0": "an SQLite file: rename it to .sqlite",
    b"PK\x03\x04": "a zip archive or a spreadsheet: rename it, or save it as CSV",
    **{mark: f"{name}-compressed: decompress it, or rename it to .csv{suffix}"
       for suffix, (mark, name, _) in _PACKED.items() if suffix != ".zip"},
}  # fmt: skip
"""First bytes of binary formats, their names, and the advice for such a file."""


def find(path: str | os.PathLike[str]) -> tuple[Path, str]:
    """Return the path of a file and the ending of its format, ".csv" for standard input."""
    path = Path(path)
    if str(path) == _STANDARD_INPUT:
        return path, ".csv"
    if path.is_dir():
        files = sorted(child.name for child in path.iterdir() if _ending(child))
        listed = f"; it holds {', '.join(files[:_MOST_LISTED])}" if files else ""
        raise IsADirectoryError(f"{path} is a directory: expected a file of a table{listed}.")
    if not path.exists():
        raise FileNotFoundError(absence(path))
    if not path.is_file():
        raise InputError(f"{path} is not an ordinary file: pass - and pipe the table as CSV.")
    with path.open("rb") as file:
        if (start := file.read(_SEARCHED)) and not start.strip(b"\0"):
            raise InputError(f"{path} begins with {len(start):,} zero bytes: copy or export it.")
    if not (ending := _ending(path)):
        raise InputError(
            f"{path} has the ending {''.join(path.suffixes[-2:])!r:.60}: expected one of "
            f"{', '.join(_ALL)}, or text compressed as {', '.join(_PACKED)}. Convert the file, or "
            "rename it if it is one of these."
        )
    return path, ending


def _ending(path: Path) -> str:
    """Return the file ending before that of a compression, empty if it is unknown."""
    suffix = path.suffix.lower()
    if suffix not in _PACKED:
        return suffix if suffix in _ALL else ""
    inner = Path(path.stem).suffix.lower() or ".csv"
    return inner if inner in TEXT_ENDINGS else ""


def place(path: Path) -> Path:
    """Return the path as shown in messages."""
    return Path("standard input") if str(path) == _STANDARD_INPUT else path


def content_of(path: Path) -> bytes:
    """Return the decompressed content of a text file, or of standard input."""
    suffix = path.suffix.lower()
    try:
        if str(path) != _STANDARD_INPUT:
            content = _unpacked(path, suffix) if suffix in _PACKED else path.read_bytes()
        elif sys.stdin is None:
            raise OSError("Standard input is closed: pipe a table into the command.")
        else:
            content = sys.stdin.buffer.read()
    except Exception as error:  # The exception type depends on the format and the damage
        if suffix not in _PACKED or isinstance(error, InputError | MemoryError | PermissionError):
            raise
        raise InputError(
            f"{path} is not a whole {_PACKED[suffix][1]} file ({error}): copy it again, or "
            "decompress it first."
        ) from error
    for mark, words in _STORED.items():
        if content.startswith(mark):
            raise InputError(f"{place(path)} is {words}.")
    return content


def _unpacked(path: Path, suffix: str) -> bytes:
    """Return the content of a compressed file."""
    if suffix == ".zst":
        import pyarrow as pa

        with pa.input_stream(str(path), compression="zstd") as stream:
            return cast(bytes, stream.read())
    if suffix != ".zip":  # Some builds of Python lack a module
        with import_module(_PACKED[suffix][2]).open(path) as file:
            return cast(bytes, file.read())
    with zipfile.ZipFile(path) as archive:
        # macOS adds an extra folder to archives.
        names = [name for name in archive.namelist()
                 if not (name.endswith("/") or name.startswith("__MACOSX/"))]  # fmt: skip
        if len(names) == 1:
            return archive.read(names[0])
    listed = ", ".join(names[:_MOST_LISTED]) + ", ..." * (len(names) > _MOST_LISTED)
    raise InputError(
        f"{path} holds {len(names)} files{f' ({listed})' if names else ''}: expected one table. "
        "Unpack it, and give the file of the table."
    )


_PIECE, _SEARCHED = 1 << 22, 1 << 16
"""Bytes converted at once, to save memory, and bytes with letters that show the encoding."""

_FEW_BROKEN = 0.02
"""Largest share of broken bytes in a damaged UTF-8 file; another encoding has nearly all."""

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"),
          (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"),
          (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip
"""Marks at the beginning of a file; UTF-32 comes first, since its mark begins as one of UTF-16."""

_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
"""Encodings without a mark in which texts have zero bytes."""

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

_SURE, _LESS = 0.62, 0.05
"""Score of sure letters of a language, and by how much Windows-1252 is more expected."""

_SYMBOLS = "°²³µ€£§±·½\u2013—\u2018\u2019“”„…«»ºª№\u00d7®©™\xa0"
"""Signs that tables of any language have."""

_IDEOGRAPH = re.compile("[\u2e80-\ud7ff]")
"""Letters of Chinese, Japanese and Korean; halves of katakana by themselves are other signs."""

_WORD = re.compile(rb"[^\x00-\x2f:;<=>?]*[\x80-\xff][^\x00-\x2f:;<=>?]*")
_ASCII, _BROKEN = bytes(range(128)), "\ufffd".encode()


def to_utf8(
    path: Path, content: bytes, requested: str | None, *, is_recorded: bool
) -> tuple[bytes, str, tuple[str, ...]]:
    """Return the content of a file as UTF-8 without a mark, its encoding, and notes on it."""
    requested, is_asked = requested and _checked(requested), bool(requested) and not is_recorded
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
        match = _WORD.search(content)
        start = content.rfind(b"\n", 0, match.end() if match else 0) + 1
        sample = content[start : content.find(b"\n", start + _SEARCHED) % (len(content) + 1)]
        encoding = _recognised(sample, requested)
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
        hint = f" Did you mean {near!r:.60}?" if near else ""
        raise InputError(
            f"There is no encoding {encoding!r:.60} (encoding=, --encoding).{hint} Expected a name "
            "such as utf-8, cp1252, latin-1, shift-jis, gb18030 or utf-16."
        ) from None
    name = codecs.lookup(encoding).name
    return "utf-8-sig" if name == "utf-8" else name


def _marked(content: bytes) -> str | None:
    """Return the encoding of Unicode that a mark shows, or zero bytes around line ends, or None."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding
    for encoding in _WIDE if b"\0" in content[:_SEARCHED] else ():
        text = content[:_SEARCHED].decode(encoding, "ignore")
        if "\0" not in text and ("\n" in text or "\r" in text):
            return encoding
    return None


def _converted(content: bytes, encoding: str, errors: str) -> bytes:
    """Return a content as UTF-8, converted piece by piece."""
    file, decoder = io.BytesIO(), codecs.getincrementaldecoder(encoding)(errors)
    for start in range(0, len(content), _PIECE):
        piece = content[start : start + _PIECE]
        file.write(decoder.decode(piece, start + _PIECE >= len(content)).encode())
    return file.getvalue()


def _recognised(content: bytes, expected: str | None = None) -> str:
    """Return the encoding in which words have the letters of a language, or the expected one."""
    from charset_normalizer import from_bytes

    found = dict.fromkeys(_WORD.findall(content))
    words = b" ".join(word for word in found if len(word) > 1)
    if not words:  # A sign by itself, such as that of copyright, is no letter of a language
        return "cp1252" if _score(b" ".join(found), "cp1252") > -math.inf else "latin_1"
    if expected is not None and _score(words, expected) > 0.0:
        return expected
    scores = {name: round(_score(words, name), 2) for name in _LETTERS}
    best = max(scores, key=scores.__getitem__)
    if scores["cp1252"] > -math.inf and words.decode("cp1252") == words.decode(best, "replace"):
        best = "cp1252"  # Letters that both have, such as those of German in the Turkish encoding
    if scores[best] < _SURE:
        match = from_bytes(content, cp_isolation=[*_OTHERS, *_LETTERS], threshold=0.9).best()
        if match is not None and match.encoding in _OTHERS and _IDEOGRAPH.search(str(match)):
            return str(match.encoding)
    return best if scores[best] > -math.inf else "latin_1"


def _score(words: bytes, encoding: str) -> float:
    """Return the mean frequency of characters beyond ASCII in a language, -inf if words fail."""
    try:
        text = words.decode(encoding)
    except UnicodeDecodeError:
        return -math.inf
    if encoding not in _LETTERS:
        return 1.0
    alphabets = _LETTERS[encoding]
    other = dict.fromkeys("".join(alphabets), 0.2) | dict.fromkeys(_SYMBOLS, 0.5)
    counts = Counter(character for character in text.lower() if not character.isascii())
    score = -math.inf
    for letters in alphabets:
        points = other | {x: 1.0 - 0.5 * i / len(letters) for i, x in enumerate(letters)}
        score = max(score, sum(n * points.get(x, -1.0) for x, n in counts.items()))
    for one, two in pairwise(text):
        score -= 1.5 * (one.islower() and two.isupper() and not two.isascii())
        # Only Latin words have ASCII letters next to others
        is_mixed = one.isalpha() and two.isalpha() and one.isascii() != two.isascii()
        score -= 1.0 * (is_mixed and alphabets[0] > "\u0250")
    return score / len(words.translate(None, _ASCII)) - _LESS * (encoding != "cp1252")
