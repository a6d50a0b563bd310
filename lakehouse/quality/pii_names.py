"""What the name of a column suggests of the persons in it; a person decides."""

import re
from typing import Literal

_SENSITIVE = (
    *("ssn", "passport", "iban", "card", "salary", "diagnosis", "religion", "password", "secret"),
    *("ethnicity", "disability", "biometric"),
)
_PERSONAL = (
    *("email", "mail", "phone", "telephone", "mobile", "fax", "name", "surname", "firstname", "lastname"),
    *("fullname", "username", "address", "street", "postcode", "zip", "birth", "birthday", "birthdate"),
    *("dob", "gender", "ip", "customer", "passenger", "patient", "employee"),
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def suggested_pii(column: str) -> Literal["personal", "sensitive"] | None:
    """The class that a word of the name stands for."""
    words = {word.lower() for word in _WORD.findall(column)}
    if words & {*_SENSITIVE}:
        return "sensitive"
    return "personal" if words & {*_PERSONAL} else None
