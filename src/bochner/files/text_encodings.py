"""Encodings of text files: recognition by the letters of languages, and conversion to UTF-8."""

from __future__ import annotations

import codecs
import io
import math
import re
from collections.abc import Iterator, Sequence
from encodings.aliases import aliases
from pathlib import Path

from bochner._base.names import nearest
from bochner.files.errors import InputError

_PIECE = 1 << 22
"""Bytes that are checked and converted at once: 4 MiB, so that memory holds one copy of a file."""

_WORDS, _SEARCHED = 2_000, 1 << 18
"""Distinct words with letters beyond ASCII that show the encoding, and bytes in which they are."""

_FEW_BROKEN = 0.02
"""Largest share of broken characters in a damaged UTF-8 file; another encoding has nearly all."""

_MANY_ZEROS, _FEW_ZEROS = 0.2, 0.05
"""Shares of zero bytes at the places of high and low bytes of UTF-16, for text with digits."""

_LEAST_SCORE = 0.3
"""Least score of a known language; below it, charset-normalizer is asked, which knows more."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
"""Marks at the beginning of a file; UTF-32 comes first, since its mark begins as one of UTF-16."""

_WEST = ("eäöüß", "éèàêçâôîûùëïœü", "áéíóñúü¿¡ºª", "ãáçéíóêâõúôà", "äåöéšž", "æøåé", "àèòùìé",
         "áðéíóúýþæö")  # fmt: skip
_EAST = ("łóążęńśćź", "íáéěřčžýšůúňóťď", "áčíéšžýúľťňäôóďĺŕ", "áéőöíóüúű", "ăîâşţ", "čšžćđ")
_CYRILLIC = ("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё", "оанивіетрсклудмпзяьбгчйїхцжшюєщфґ")
_OTHER_SCRIPTS = ("αοιετσνηυρπκμλςόίάέωθγδχφήβξύώζψϊϋΐΰ", "יוהלארתבשמםנעקחדפגטצזסןכץףך",
                  "المينرتوبةعدفهسكقحجشطصخىزضغذثظءأإآؤئ\u064b\u064e\u0651",
                  "านรกอเงมยลวดทสตะปบคหแจพชขใไโผณซศฐภธถญฟฉฝ่้ัิีุูึืำ์็ษฏฎฬฮฆฌๆ")  # fmt: skip
_LETTERS = {
    "cp1252": _WEST, "cp1250": _EAST, "cp1251": _CYRILLIC, "koi8_r": _CYRILLIC[:1],
    "koi8_u": _CYRILLIC, "iso8859_2": _EAST, "cp1254": ("ıüşçöğ",), "cp1253": _OTHER_SCRIPTS[:1],
    "cp1255": _OTHER_SCRIPTS[1:2], "cp1256": _OTHER_SCRIPTS[2:3], "cp874": _OTHER_SCRIPTS[3:],
    "cp850": _WEST, "mac_roman": _WEST, "cp852": _EAST, "cp866": _CYRILLIC[:1],
}  # fmt: skip
"""Letters beyond ASCII of languages, the most frequent first, by the encodings of their files."""

_LATIN = {alphabet[0] for alphabet in (*_WEST, *_EAST, *_LETTERS["cp1254"])}
_LESS = {"cp1252": 0.0, "cp1254": 0.2, "cp850": 0.2, "mac_roman": 0.2, "cp852": 0.2, "cp866": 0.2}
"""Scores by which encodings are less expected than Windows-1252, 0.05 if they are not listed."""

_UNLIKELY = re.compile(
    r"ñ(?![aeiou])|ń(?=[aeiouáéíóú])|ŕ(?![b-df-hj-np-tv-z])|ã(?=[b-df-np-rt-z])", re.IGNORECASE
)
"""Letters of cp1252 and cp1250 that have the same bytes, at places where words have the others."""

_SYMBOLS = frozenset("°²³µ€£§±·½\u2013—\u2018\u2019“”„…«»ºª№\u00d7®©™\xa0")
"""Signs that tables of any language have."""

_HAN = (
    "年月日時分気温天晴曇雨雪東京大阪都道府県市区町村平均品質情報番号名前数量金額合計人男女計値最高低北海南西田山川本中小上下",
    "年月日时分气温天晴云雨雪北京上海广州市区省县平均数据名称编号金额合计人男女值最高低东南西中大小公司有限产品销售量价格型姓地址电话",
    "年月日時分氣溫天晴雲雨雪臺北高雄市區縣鄉鎮平均數據資料名稱編號金額合計人男女值最高低東南西中大小公司有限產品銷售量價格型姓地址電話",
)
_WIDE = {
    "cp932": (range(0x88, 0x98), _HAN[0]), "euc_jp": (range(0xB0, 0xD0), _HAN[0]),
    "gb18030": (range(0xB0, 0xD8), _HAN[1]), "euc_kr": (range(0xB0, 0xC9), ""),
    "cp949": (range(0xB0, 0xC9), ""), "big5": (range(0xA4, 0xC7), _HAN[2]),
}  # fmt: skip
"""First bytes, and examples, of frequent characters in encodings of several bytes a character."""

_NAMES = {
    "cp1252": "Windows-1252", "cp1250": "Windows-1250", "cp1251": "Windows-1251",
    "cp932": "cp932 (Shift-JIS)", "koi8_r": "KOI8-R", "koi8_u": "KOI8-U", "euc_jp": "EUC-JP",
    "euc_kr": "EUC-KR", "gb18030": "GB18030", "big5": "Big5", "latin_1": "Latin-1",
}  # fmt: skip
"""Names of encodings that Python names otherwise."""

_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_WORD = re.compile(rb"[^\x00-\x2f:;<=>?]+")


def to_utf8(
    path: Path, content: bytes, requested: str | None, *, is_recorded: bool
) -> tuple[bytes, str, tuple[str, ...]]:
    """Return the content of a file as UTF-8 without a mark, its encoding, and notes on it.

    ``requested`` is the encoding that a user names, or that an earlier file had if it is recorded.
    Raises InputError for an unknown encoding, and for a content that is not text.
    """
    requested = requested and _checked(requested)
    is_asked = requested is not None and not is_recorded
    encoding = requested if is_asked else _unicode_encoding(content)
    zero = content.find(b"\0") if encoding in (None, "utf-8") else -1
    if zero >= 0:
        raise InputError(
            f"{path} is not text: a zero byte at offset {zero}. Expected a table of text; export "
            "it again, or name its encoding (--encoding)."
        )
    if encoding is None:
        words = _words(content)
        has_recorded = requested is not None and _score(words, requested) > 0.0
        encoding = str(requested) if has_recorded else _recognised(words)
    text = content
    if encoding != "utf-8" or not (content.isascii() or _n_broken(content) == 0):
        text = _converted(path, content, encoding, is_asked)
    n_broken = text.count("\ufffd".encode()) if text is not content and not is_asked else 0
    name = _NAMES.get(encoding, encoding.removesuffix("-sig").upper())
    if n_broken:
        note = f"{n_broken} characters of the file are broken {name} and read as \ufffd."
        return text, encoding, (note,)
    note = f"The file is encoded in {name}; encoding= (--encoding) names another."
    return text, encoding, () if is_asked or name == "UTF-8" else (note,)


def _checked(encoding: str) -> str:
    """Return an encoding of text, or raise InputError with a similar name."""
    try:
        "".encode(encoding)  # Refuses encodings of bytes, such as base64
    except LookupError:
        names = {*_NAMES.values(), *(name.replace("_", "-") for name in aliases)}
        near = nearest(encoding.replace("_", "-"), names)
        hint = f" Did you mean {near!r}?" if near else ""
        raise InputError(
            f"There is no encoding {encoding!r} (encoding=, --encoding).{hint} Expected a name "
            "such as utf-8, cp1252, latin-1, shift-jis, gb18030 or utf-16."
        ) from None
    name = codecs.lookup(encoding).name
    return "utf-8-sig" if name == "utf-8" else name.replace("utf_", "utf-")


def _unicode_encoding(content: bytes) -> str | None:
    """Return the encoding that a mark, zero bytes or valid UTF-8 shows, or None."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding
    sample = content[:_PIECE]
    if b"\0" in sample:
        first, second, third, fourth = (
            sample[i::4].count(0) / max(len(sample[i::4]), 1) for i in range(4)
        )
        if third == fourth == 1.0 or first == second == 1.0:
            return "utf-32-le" if fourth == 1.0 else "utf-32-be"
        even, odd = (first + third) / 2.0, (second + fourth) / 2.0
        if max(even, odd) > _MANY_ZEROS and min(even, odd) < _FEW_ZEROS:
            return "utf-16-le" if odd > even else "utf-16-be"
        return None
    n_broken = 0 if content.isascii() else _n_broken(content)
    return "utf-8" if n_broken <= _FEW_BROKEN * len(_BEYOND_ASCII.findall(sample)) else None


def _pieces(content: bytes, encoding: str, errors: str = "strict") -> Iterator[str]:
    """Yield the text of a content piece by piece."""
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    for start in range(0, len(content), _PIECE):
        yield decoder.decode(content[start : start + _PIECE], start + _PIECE >= len(content))


def _n_broken(content: bytes) -> int:
    """Return the number of broken characters of UTF-8."""
    try:
        for _ in _pieces(content, "utf-8"):
            pass
    except UnicodeDecodeError:
        return sum(text.count("\ufffd") for text in _pieces(content, "utf-8", "replace"))
    return 0


def _converted(path: Path, content: bytes, encoding: str, is_asked: bool) -> bytes:
    """Return a content as UTF-8, or raise InputError for bytes that the encoding lacks."""
    file, n_read = io.BytesIO(), 0
    errors = "replace" if encoding == "utf-8" else "strict"
    try:
        for text in _pieces(content, encoding, errors):
            n_read += file.write(text.encode())
    except UnicodeError as error:
        advice = "name another encoding" if is_asked else "copy or export it again"
        name = _NAMES.get(encoding, encoding.removesuffix("-sig").upper())
        raise InputError(
            f"{path} is damaged {name} ({getattr(error, 'reason', error)} after {n_read} bytes): "
            f"{advice} (--encoding)."
        ) from None
    return file.getvalue()


def _words(content: bytes) -> list[bytes]:
    """Return distinct words with bytes beyond ASCII, from the first such byte on."""
    match = _BEYOND_ASCII.search(content)
    start = max(content.rfind(b"\n", 0, match.start() if match else 0), 0)
    sample = content[start : start + _SEARCHED]
    found = dict.fromkeys(word for word in _WORD.findall(sample) if not word.isascii())
    return list(found)[:_WORDS]


def _recognised(words: Sequence[bytes]) -> str:
    """Return the encoding in which words have the letters of a language."""
    scores = {name: _score(words, name) for name in (*_LETTERS, *_WIDE)}
    best = max(scores, key=lambda name: round(scores[name], 2))
    if scores[best] >= _LEAST_SCORE:
        return best
    from charset_normalizer import from_bytes

    match = from_bytes(b"\n".join(words)).best()
    fallback = "cp1252" if scores["cp1252"] > -math.inf else "latin_1"
    return match.encoding if match and match.encoding not in scores else fallback


def _score(words: Sequence[bytes], encoding: str) -> float:
    """Return the mean frequency of characters beyond ASCII in a language, -inf if words fail."""
    try:
        texts = [word.decode(encoding) for word in words]
    except (UnicodeDecodeError, LookupError):
        return -math.inf
    n_bytes = sum(len(_BEYOND_ASCII.findall(word)) for word in words)
    if encoding in _WIDE:
        return sum(_wide_score(text, encoding) for text in texts) / n_bytes
    alphabets = _LETTERS.get(encoding, _WEST)
    family = "".join(alphabets)
    totals = [sum(_word_score(text, each, family) for text in texts) for each in alphabets]
    return max(totals) / n_bytes - _LESS.get(encoding, 0.05)


def _wide_score(text: str, encoding: str) -> float:
    """Return the number of bytes of frequent characters less those of rare ones."""
    first_bytes, frequent = _WIDE[encoding]
    score = 0.0
    for character in text:
        code = character.encode(encoding)
        if len(code) == 1:
            score -= 0.5 * (code[0] > 127)  # Katakana of half width, as any Latin letter is read
        elif character in frequent or ("ぁ" <= character <= "ヿ" and frequent is _HAN[0]):
            score += 2.0
        elif code[0] in first_bytes:
            score += 1.3 if frequent else 1.7
        else:
            score += 0.5 if character in _SYMBOLS or not character.isalpha() else -1.0
    return score


def _word_score(text: str, alphabet: str, family: str) -> float:
    """Return the sum of scores of the characters of a word beyond ASCII, at most one each."""
    is_latin, before = family[0] in _LATIN, ""
    score = -1.0 * len(_UNLIKELY.findall(text)) if is_latin else 0.0
    for character in text:
        rank, low = alphabet.find(character.lower()), character.lower()
        if character in _SYMBOLS:
            score += 0.5
        elif not character.isascii():
            is_other = 0.2 if low in family else -1.0
            score += 1.0 - 0.5 * rank / len(alphabet) if rank >= 0 else is_other
            score -= 1.5 * (before.islower() and character.isupper())
        if before.isalpha() and not (before.isascii() and character.isascii()):
            # Most letters of Latin words are ASCII, and none of other scripts.
            is_mixed = before.isascii() or character.isascii()
            score -= (0.0 if is_mixed else 0.3) if is_latin else (1.0 if is_mixed else 0.0)
        before = character
    return score
