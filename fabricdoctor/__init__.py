"""Node and fabric diagnostics for RoCE and InfiniBand training clusters."""

__version__ = "0.1.0"
