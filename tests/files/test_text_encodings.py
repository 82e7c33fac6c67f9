"""Tables in the languages and encodings that people have, short and long, come out as written."""

import random

import numpy as np
import pytest
from files.written import read_text, refusal

from bochner.files.text_files import _recognised

WORDS = {
    "Japanese": "年月日 気温(℃) 天気 晴 曇 雨 雪 東京 大阪 北海道 データ 名古屋市 ひらがな りんご",
    "Chinese": "日期 气温 天气 城市 晴 多云 小雨 北京 上海 广州 数据 销售额 产品名称 有限公司",
    "Taiwanese": "日期 氣溫 天氣 縣市 晴 多雲 小雨 臺北市 高雄市 新竹縣 資料 銷售額 產品名稱",
    "Korean": "날짜 기온 날씨 도시 맑음 흐림 서울 부산 대구 평균기온 자료 매출액 제품명 주식회사",
    "Polish": "Miejscowość Wartość Województwo Łódź Kraków Gdańsk Poznań śląskie Średnia wrzesień",
    "Czech": "Město Částka Počet Plzeň České Budějovice Hradec Králové Ústí říjen září květen žena",
    "Hungarian": "Dátum Város Összeg Győr Székesfehérvár Hódmezővásárhely őszi fizetés nő férfi",
    "Russian": "Дата Город Значение Москва Казань среднее январь мужской женский рубли продажи",
    "Ukrainian": "Місто Значення Київ Львів Харків середнє січень чоловік жінка Запоріжжя ґанок",
    "German": "Größe Straße Zähler Köln München Düsseldorf männlich weiblich März für Übersicht",
    "French": "Libellé Département Température Isère Hérault Corrèze février août décembre été où",
    "Spanish": "Año Población Descripción España Málaga Cádiz León niño Córdoba mañana número",
    "Portuguese": "Município Preço Descrição São Brasília Março não população Goiânia código",
    "Swedish": "Län Värde Område Göteborg Malmö Västerås Örebro Umeå män Jönköping Åland hjälp",
    "degrees": "temp(°C) price(€) area(m²)",
}  # fmt: skip
"""Words of tables, the first three of which are names of columns."""

ENCODINGS = {
    "Japanese": "cp932 euc_jp utf-16-le", "Chinese": "gb18030 utf-16-be", "Taiwanese": "big5",
    "Korean": "euc_kr cp949", "Polish": "cp1250 iso8859_2", "Czech": "cp1250 iso8859_2",
    "Hungarian": "cp1250", "Russian": "cp1251 koi8_r utf-16-le", "Ukrainian": "cp1251 koi8_u",
    "German": "cp1252 latin_1", "French": "cp1252 latin_1", "Spanish": "cp1252 latin_1",
    "Portuguese": "cp1252", "Swedish": "cp1252 latin_1", "degrees": "cp1252",
}  # fmt: skip
CASES = [(language, each) for language, some in ENCODINGS.items() for each in some.split()]
FORMS = {"short": (5, 1.0), "long": (300, 1.0), "digits": (60, 0.1), "names": (60, 0.0)}
"""Numbers of rows, and shares of rows with a word."""


def table(language, form):
    """Names, and rows of a day, a number and a word."""
    draws = random.Random(form)
    words = WORDS[language].split()
    n_rows, share = FORMS[form]
    rows = [[f"2021-01-{i % 28 + 1:02}", f"{draws.random() * 30:.1f}",
             draws.choice(words[3:] or words) if draws.random() < share else "x"]
            for i in range(n_rows)]  # fmt: skip
    return words[:3], rows


@pytest.mark.parametrize(("language", "encoding"), CASES)
@pytest.mark.parametrize("form", FORMS)
def test_tables_come_out_as_written(tmp_path, language, encoding, form):
    names, rows = table(language, form)
    content = "\n".join(map(",".join, [names, *rows])) + "\n"
    found = read_text(tmp_path, content.encode(encoding), keep=names, text_columns=names[2:])
    assert list(found.frame.columns) == names
    assert found.frame[names[2]].tolist() == [row[2] for row in rows]
    np.testing.assert_array_equal(found.frame[names[1]], [float(row[1]) for row in rows])
    assert found.layout.encoding.replace("-", "_") in found.notes[0].replace("-", "_")
    asked = read_text(tmp_path, content.encode(encoding), keep=names, encoding=encoding)
    assert list(asked.frame.columns) == names
    assert not any("encoding" in note for note in asked.notes)
    later = "\n".join(map(",".join, [names, rows[0]])) + "\n"
    for one in (encoding, "utf-8"):
        again = read_text(tmp_path, later.encode(one), layout=found.layout)
        assert list(again.frame.columns) == names


@pytest.mark.parametrize(
    ("words", "encoding"),
    [("Łódź", "cp1250"), ("España", "cp1252"), ("São Paulo", "cp1252"), ("Москва", "koi8_r"),
     ("Москва", "cp1251"), ("größer", "cp1252"), ("Begünstigter", "cp1252"),
     ("W/m²", "cp1252"), ("©", "cp1252"),
     ("été", "cp1252"), ("žluťoučký", "cp1250"),
     ("Plzeň říjen", "cp1250"),
     ("Αθήνα Ελλάδα", "cp1253"), ("ירושלים תל אביב", "cp1255")],
)  # fmt: skip
def test_letters_show_the_encoding(words, encoding):
    content = f"a,b\n{words},1\n".encode(encoding)
    assert content.decode(_recognised(content)) == content.decode(encoding)


def test_broken_characters_of_a_table_in_utf_8(tmp_path):
    content = "größe,café\n" + "1,naïve\n" * 80
    broken = content.encode().replace("ï".encode(), b"\xef", 1)
    found = read_text(tmp_path, broken)
    assert list(found.frame.columns) == ["größe", "café"]
    assert found.notes[0] == "1 characters of the file are broken UTF-8 and read as \ufffd."


@pytest.mark.parametrize(
    ("name", "part"),
    [("shift-jsi", "Did you mean"), ("cp125", "Did you mean"), ("base64", "There is no encoding"),
     ("utf-8", "is damaged utf-8"), ("ascii", "name another encoding (--encoding)")],
)  # fmt: skip
def test_encodings_that_are_refused(tmp_path, name, part):
    content = "天気,b\n晴,1\n".encode("cp932")
    assert part in refusal(tmp_path, content, encoding=name)
