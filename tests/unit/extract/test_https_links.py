"""Pages behind https links, from a server with a real certificate: one that is good is read, any
other is refused, and what a good one leads to is looked at like every address."""

from __future__ import annotations

import ipaddress
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from holdfast import HubMemory
from holdfast.extract.link import Bounds, fetch
from holdfast.extract.readers import Unreadable
from tests.unit.extract.test_links import PAGE, Site, fetched

NAME = "pages.example"
BOUNDS = Bounds(10_000, 5.0, ("127.0.0.1",))


class Authority:
    """Somebody who signs certificates."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority")])
        whole = self._certificate(self._key, self._name, [], days=30, signs=True)
        self.file = self._write("authority.pem", whole.public_bytes(serialization.Encoding.PEM))

    def sign(self, *names: x509.GeneralName, days: int = 30) -> tuple[str, str]:
        """The files of a certificate for these names, and of its key. With days below zero it
        ended so long ago."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A server")])
        made = self._certificate(key, subject, list(names), days=days, signs=False)
        secret = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return (
            self._write("server.pem", made.public_bytes(serialization.Encoding.PEM)),
            self._write("server.key", secret),
        )

    def _certificate(
        self,
        key: ec.EllipticCurvePrivateKey,
        subject: x509.Name,
        names: list[x509.GeneralName],
        *,
        days: int,
        signs: bool,
    ) -> x509.Certificate:
        ends = datetime.now(UTC) + timedelta(days=days)
        made = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(ends - timedelta(days=60))
            .not_valid_after(ends)
            .add_extension(x509.BasicConstraints(ca=signs, path_length=None), critical=True)
        )
        # From Python 3.13 on, certificates are checked strictly (RFC 5280).
        if signs:
            made = made.add_extension(
                x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
            )
            made = made.add_extension(_SIGNS, critical=True)
        else:
            signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
            made = made.add_extension(signer, critical=False)
        if names:
            made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return made.sign(self._key, hashes.SHA256())

    def _write(self, name: str, data: bytes) -> str:
        path = self.folder / name
        path.write_bytes(data)
        return str(path)


_SIGNS = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)
BY_NAME = x509.DNSName(NAME)
BY_ADDRESS = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """One that this machine trusts, as OpenSSL is told of one."""
    made = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", made.file)
    return made


class Secure:
    """A site behind a certificate."""

    def __init__(self) -> None:
        self.site = Site()
        self._thread: threading.Thread | None = None

    def start(self, certificate: tuple[str, str]) -> Site:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server = self.site.server
        # The handshake is made by the thread that answers: one that fails ends that one alone.
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        # A handshake that is broken off is what these tests are about, and not worth a trace.
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self.site.address = f"https://127.0.0.1:{server.server_port}"
        self._thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        self._thread.start()
        return self.site

    def stop(self) -> None:
        if self._thread is not None:
            self.site.server.shutdown()
            self._thread.join()
        self.site.server.server_close()


@pytest.fixture
def secure() -> Iterator[Secure]:
    made = Secure()
    yield made
    made.stop()


def under_name(address: str) -> str:
    return address.replace("127.0.0.1", NAME)


def here(host: str, port: int) -> list[str]:
    return ["127.0.0.1"] if host == NAME else [host]


def test_a_page_behind_a_good_certificate_becomes_the_text_of_its_link(
    hub: HubMemory, secure: Secure, authority: Authority
) -> None:
    site = secure.start(authority.sign(BY_ADDRESS))
    memory = fetched(hub, site.serve("/birds", PAGE))
    assert (memory.state, memory.title) == ("active", "Herons & storks")
    assert "The grey heron is tall." in memory.content


def test_the_certificate_is_for_the_name_that_was_asked_for(
    secure: Secure, authority: Authority
) -> None:
    site = secure.start(authority.sign(BY_NAME))
    address = site.serve("/birds", PAGE)
    page = fetch(under_name(address), BOUNDS, here)
    assert (page.address, page.data) == (under_name(address), PAGE)
    assert site.asked[0][1]["Host"] == f"{NAME}:{site.server.server_port}"
    with pytest.raises(Unreadable, match="certificate is not good"):
        fetch(address, BOUNDS)
    with pytest.raises(Unreadable, match="certificate is not good"):
        fetch(
            address.replace("127.0.0.1", "other.example"), BOUNDS, lambda host, port: ["127.0.0.1"]
        )
    assert len(site.asked) == 1


def test_a_certificate_that_has_ended_is_refused(secure: Secure, authority: Authority) -> None:
    site = secure.start(authority.sign(BY_NAME, days=-1))
    with pytest.raises(Unreadable, match="certificate is not good"):
        fetch(under_name(site.serve("/birds", PAGE)), BOUNDS, here)
    assert site.asked == []


def test_a_certificate_of_nobody_who_is_trusted_is_refused(
    hub: HubMemory, secure: Secure, tmp_path: Path
) -> None:
    site = secure.start(Authority(tmp_path).sign(BY_ADDRESS))
    memory = fetched(hub, site.serve("/birds", PAGE))
    assert (memory.state, memory.state_reason) == ("active", "the server's certificate is not good")
    assert site.asked == []
    assert hub.search_text("127.0.0.1") == [memory]


def test_a_server_that_speaks_no_tls_is_refused(secure: Secure, authority: Authority) -> None:
    thread = threading.Thread(target=secure.site.server.serve_forever, args=(0.01,))
    thread.start()
    try:
        secure.site.server.handle_error = lambda *_: None  # type: ignore[method-assign]
        address = secure.site.serve("/birds", PAGE).replace("http:", "https:")
        with pytest.raises(Unreadable, match="certificate is not good"):
            fetch(address, BOUNDS)
    finally:
        secure.site.server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "to",
    [
        *("http://127.0.0.2:{port}/birds", "https://127.0.0.2:{port}/birds"),
        *("http://[::1]:{port}/birds", "https://0.0.0.0:{port}/birds"),
        *("https://169.254.169.254/latest", "//10.0.0.1/birds", "file:///etc/hosts"),
    ],
)
def test_a_good_certificate_leads_to_no_private_address(
    secure: Secure, authority: Authority, to: str
) -> None:
    site = secure.start(authority.sign(BY_NAME))
    site.serve("/birds", PAGE)
    address = site.redirect("/away", to.format(port=site.server.server_port))
    with pytest.raises(Unreadable, match=r"private address|only pages at http"):
        fetch(under_name(address), BOUNDS, here)
    assert [path for path, _ in site.asked] == ["/away"]


def test_a_redirect_from_one_good_page_to_another_is_followed(
    secure: Secure, authority: Authority
) -> None:
    site = secure.start(authority.sign(BY_NAME, BY_ADDRESS))
    site.serve("/birds", PAGE)
    address = site.redirect("/away", f"{site.address}/birds")
    page = fetch(under_name(address), BOUNDS, here)
    assert page.address == f"{site.address}/birds"
