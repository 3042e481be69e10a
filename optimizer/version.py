"""The version, in one place: the build, ``--version`` and every plan read it here."""

__version__ = "0.1.0"
