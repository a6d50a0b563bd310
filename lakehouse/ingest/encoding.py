"""What a text file is, if it is not UTF-8, and how its bytes are shown in a message."""

from pathlib import Path

from lakehouse.ingest.errors import SourceError

HEAD = 4096  # bytes that are looked at
# Of the marks that begin a file the longer ones come first: that of UTF-32 begins as that of UTF-16 does.
MARKS = (
    (b"\xff\xfe\0\0", "UTF-32", "utf-32"),
    (b"\0\0\xfe\xff", "UTF-32", "utf-32"),
    (b"\xff\xfe", "UTF-16", "utf-16"),
    (b"\xfe\xff", "UTF-16", "utf-16"),
)
PACKED = ((b"\x1f\x8b", "gzip"), (b"PK\x03\x04", "zip, or a spreadsheet"), (b"BZh", "bzip2"))


def refuse_other_encodings(file: Path, shown: Path) -> None:
    """Refuse a file whose first bytes say that it is something else than UTF-8.

    Raises:
        SourceError: what it is and how to convert it.
        FileNotFoundError: there is no such file.
    """
    with file.open("rb") as opened:
        head = opened.read(HEAD)
    if packed := next((name for mark, name in PACKED if head.startswith(mark)), None):
        raise SourceError(f"{shown} is no text but packed ({packed}). Unpack it first.")
    if found := next((names for mark, *names in MARKS if head.startswith(mark)), _without_mark(head)):
        name, codec = found
        raise SourceError(
            f"{shown} is {name}, not UTF-8. Convert it, for instance with `iconv -f {codec} -t utf-8`."
        )


def escaped(text: bytes) -> str:
    """The text, and a number in place of each byte that is not UTF-8."""
    return text.decode("utf-8", "backslashreplace")


def _without_mark(head: bytes) -> list[str] | None:
    """UTF-16 that no mark begins: in most of its characters, one of the two bytes is zero."""
    pairs = len(head) // 2
    for codec, zeros in (("utf-16le", head[1::2]), ("utf-16be", head[0::2])):
        if pairs and zeros.count(0) > pairs / 2:
            return ["UTF-16", codec]
    return None
