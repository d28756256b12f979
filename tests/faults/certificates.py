"""An authority of the tests' own, and certificates that it signs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = timedelta(days=1)


class Authority:
    """Signs certificates of servers; its own is in `path`."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self._name = _named(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        made = (
            _begun(self._name, self._name, self._key.public_key(), ends=_DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        path.write_bytes(made.public_bytes(serialization.Encoding.PEM))

    def sign(self, folder: Path, host: str, *, ends: timedelta = _DAY) -> None:
        """A certificate and its key for a host: `server.crt` and `server.key` in a folder."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = (
            _begun(_named(host), self._name, key.public_key(), ends=ends)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        (folder / "server.crt").write_bytes(made.public_bytes(serialization.Encoding.PEM))
        (folder / "server.key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _begun(
    whose: x509.Name, signer: x509.Name, key: ec.EllipticCurvePublicKey, *, ends: timedelta
) -> x509.CertificateBuilder:
    # The clock of the driver and of the server counts, not one of ours.
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(whose)
        .issuer_name(signer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 2 * _DAY)
        .not_valid_after(now + ends)
    )
