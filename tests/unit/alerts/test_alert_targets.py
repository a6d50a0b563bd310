"""The targets of the setting, and that nothing shows what their URLs hold."""

import pytest
from pydantic import SecretStr

from lakehouse.alerts.post import without_secrets
from lakehouse.alerts.targets import send, targets_of
from lakehouse.settings import Settings


def urls(setting: str) -> list[str]:
    return [target.url.get_secret_value() for target in targets_of(SecretStr(setting))]


@pytest.mark.parametrize(
    ("setting", "listed"),
    [
        ("json://a/ json://b/", ["json://a/", "json://b/"]),
        ("json://a/,json://b/", ["json://a/", "json://b/"]),
        (" json://a/ ,\n json://b/, ", ["json://a/", "json://b/"]),
        ("mailtos://u:p@h?to=a@x.org,b@x.org,json://b/", ["mailtos://u:p@h?to=a@x.org,b@x.org", "json://b/"]),
        ("", []),
    ],
)
def test_urls_are_listed_by_white_space_or_commas(setting: str, listed: list[str]) -> None:
    assert urls(setting) == listed


def test_a_name_shows_the_scheme_and_nothing_else() -> None:
    names = [target.name for target in targets_of(SecretStr("slack://T0/B0/s3cret xoxb-s3cret"))]
    assert names == ["target 1 (slack://***)", "target 2 (no scheme://***)"]


def test_the_setting_is_not_printed() -> None:
    assert "s3cret" not in repr(Settings(alert_urls=SecretStr("slack://T0/B0/s3cret")))


def test_a_sentence_about_a_url_loses_its_pieces() -> None:
    said = without_secrets(
        "json://user:p4ssword@host/t0ken?key=v4lue", "Failed at host/t0ken?key=v4lue p4ssword"
    )
    assert said == "Failed at ***/***?***=*** ***"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("slak://t0ken/s3cret", "the scheme slak:// is unknown"),
        ("xoxb-s3cret", "it is no URL"),
        ("slack://s3cret", "slack:// asks for another URL"),
        ("json://127.0.0.1:1/s3cret", ""),
    ],
)
def test_what_apprise_does_not_know_is_a_sentence(url: str, said: str) -> None:
    [answer] = send(targets_of(SecretStr(url)), None, 30)
    assert answer.refusal.startswith(said)
    assert bool(answer.refusal) == bool(said)
    assert "s3cret" not in answer.refusal
