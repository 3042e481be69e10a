"""The fuzzer needs a package of its own and is started by hand: nothing here belongs to the suite."""

collect_ignore = ["fuzz_import.py"]
