"""Runs under the interpreter that can import pyverbs: standard library only, nothing of ours."""
