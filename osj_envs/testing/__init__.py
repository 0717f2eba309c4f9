"""Tools for testing environments: slow references, drawn worlds, fakes, conformance checks."""
