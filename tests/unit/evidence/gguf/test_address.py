from __future__ import annotations

import pytest

from specrules.evidence.gguf import GgufError
from specrules.evidence.gguf.address import (
    authorization,
    download_url,
    has_special_address,
    is_special,
    is_url,
    redirected,
    same_origin,
    shown,
    with_name,
    without_user,
)

HUB = "https://huggingface.co/owner/repo"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("https://host/x.gguf", True),
        ("HTTP://host/x.gguf", True),
        ("models/x.gguf", False),
        ("C:\\x.gguf", False),
        ("ftp://host/x", False),
    ],
)
def test_what_is_a_url(source: str, expected: bool) -> None:
    assert is_url(source) is expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://me:secret@host:8443/a/b.gguf?token=secret#secret", "https://host:8443/a/b.gguf"),
        ("http://[::1]:80/x", "http://[::1]:80/x"),
        ("https://HOST/x", "https://host/x"),
    ],
)
def test_secrets_are_not_shown(url: str, expected: str) -> None:
    assert shown(url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (f"{HUB}/blob/main/x.gguf", f"{HUB}/resolve/main/x.gguf"),
        (f"{HUB}/blob/main/sub/x.gguf?show_file_info=x.gguf", f"{HUB}/resolve/main/sub/x.gguf"),
        (f"{HUB}/resolve/main/x.gguf?download=true", f"{HUB}/resolve/main/x.gguf?download=true"),
        ("https://host/owner/repo/blob/main/x.gguf#a", "https://host/owner/repo/blob/main/x.gguf"),
        (" HTTPS://host/x.gguf\n", "https://host/x.gguf"),
    ],
)
def test_where_the_bytes_are(url: str, expected: str) -> None:
    assert download_url(url) == expected


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://me:secret@host/x", "http://host:99999/", "http://[x/", "x"]
)
def test_what_cannot_be_fetched(url: str) -> None:
    with pytest.raises(GgufError) as caught:
        download_url(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "environ", "expected"),
    [
        (f"{HUB}/x", {"HF_TOKEN": "hf_a"}, "Bearer hf_a"),
        (f"{HUB}/x", {"HF_TOKEN": " hf_a\n", "HUGGING_FACE_HUB_TOKEN": "b"}, "Bearer hf_a"),
        (f"{HUB}/x", {"HF_TOKEN": "", "HUGGING_FACE_HUB_TOKEN": "b"}, "Bearer b"),
        (f"{HUB}/x", {}, ""),
        ("http://huggingface.co/x", {"HF_TOKEN": "hf_a"}, ""),
        ("https://huggingface.co:444/x", {"HF_TOKEN": "hf_a"}, ""),
        ("https://huggingface.co:443/x", {"HF_TOKEN": "hf_a"}, "Bearer hf_a"),
        ("https://huggingface.co.evil.example/x", {"HF_TOKEN": "hf_a"}, ""),
        ("https://huggingface.co@evil.example/x", {"HF_TOKEN": "hf_a"}, "Basic aHVnZ2luZ2ZhY2UuY286"),
        ("https://mirror/x", {"HF_TOKEN": "hf_a", "HF_ENDPOINT": "https://mirror/"}, "Bearer hf_a"),
        (f"{HUB}/x", {"HF_TOKEN": "hf_a", "HF_ENDPOINT": "https://mirror"}, ""),
        ("https://me:pass%20word@host/x", {}, "Basic bWU6cGFzcyB3b3Jk"),
    ],
)
def test_whom_credentials_are_for(url: str, environ: dict[str, str], expected: str) -> None:
    assert authorization(url, environ) == expected


@pytest.mark.parametrize("token", ["hf_secret\r\nX: y", "hf_secret other", "hf_secr\u00e9t"])
def test_a_token_that_cannot_be_sent_is_not_shown(token: str) -> None:
    with pytest.raises(GgufError, match="the token in HF_TOKEN has characters") as caught:
        authorization(f"{HUB}/x", {"HF_TOKEN": token})
    assert "hf_secr" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("8.8.8.8", False),
        ("2606:4700::1111", False),
        ("127.0.0.1", True),
        ("10.1.2.3", True),
        ("172.16.0.1", True),
        ("192.168.1.1", True),
        ("169.254.169.254", True),
        ("100.64.0.1", True),
        ("0.0.0.1", True),
        ("224.0.0.1", True),
        ("255.255.255.255", True),
        ("::1", True),
        ("::", True),
        ("fe80::1%eth0", True),
        ("fd00::1", True),
        ("ff02::1", True),
        ("::ffff:127.0.0.1", True),
        ("::ffff:8.8.8.8", False),
        ("64:ff9b::7f00:1", True),
        ("64:ff9b::808:808", False),
        ("2002:7f00:1::", True),
    ],
)
def test_addresses_that_are_not_public(address: str, expected: bool) -> None:
    assert is_special(address) is expected


PUBLIC = "http://8.8.8.8/x"


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1/x",
        "http://169.254.169.254/latest/meta-data/",
        "//10.0.0.1/x",
        "http://[::1]/x",
        "http://[::ffff:10.0.0.1]/x",
        "http://localhost:6379/x",
        "http://localhost./x",
        "http://2130706433/x",
        "http://0x7f.1/x",
    ],
)
def test_a_public_server_cannot_lead_into_a_private_network(target: str) -> None:
    with pytest.raises(GgufError, match="which is an address of a private network or of this machine"):
        redirected(PUBLIC, PUBLIC, target)


@pytest.mark.parametrize("first", ["http://10.0.0.1/x", "http://localhost:8080/x"])
@pytest.mark.parametrize(
    "target", ["http://169.254.169.254/latest/", "http://[fe80::1]/", "http://[::ffff:a9fe:a9fe]/"]
)
def test_nor_does_a_private_one_lead_to_a_link_local_address(first: str, target: str) -> None:
    with pytest.raises(GgufError, match="which is an address of a private network or of this machine"):
        redirected(first, first, target)
    assert redirected(first, first, target, allow_private=True) == target
    assert redirected("http://169.254.1.1/x", "http://169.254.1.1/x", target) == target


def test_a_private_server_may_lead_to_another() -> None:
    assert redirected("http://10.0.0.1/x", "http://10.0.0.1/x", "http://10.0.0.2/y") == "http://10.0.0.2/y"


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/y?sig=1", "http://8.8.8.8/y?sig=1"),
        ("y#part", "http://8.8.8.8/y"),
        ("http://me:secret@9.9.9.9/y", "http://9.9.9.9/y"),
        ("http://8.8.8.8:8080/y", "http://8.8.8.8:8080/y"),
    ],
)
def test_where_a_redirect_leads(location: str, expected: str) -> None:
    assert redirected(PUBLIC, PUBLIC, location) == expected


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("https://8.8.8.8/x", "another scheme, https"),
        ("file:///etc/passwd", "another scheme, file"),
        ("http://[::1", "no URL"),
        ("http://8.8.8.8:99999/", "no URL"),
    ],
)
def test_redirects_that_are_refused(location: str, words: str) -> None:
    with pytest.raises(GgufError, match=words):
        redirected(PUBLIC, PUBLIC, location)


def test_a_name_that_has_no_address_is_not_called_special() -> None:
    assert has_special_address("http://name.invalid/") is False
    assert has_special_address("http://localhost/") is True


def test_small_parts() -> None:
    assert without_user("https://me:x@y@host/p?q=a@b") == "https://host/p?q=a@b"
    assert with_name("https://host/a/b.gguf?x=1", "c.gguf") == "https://host/a/c.gguf?x=1"
    assert same_origin("https://host/a", "https://HOST.:443/b")
    assert not same_origin("https://host", "http://host")
