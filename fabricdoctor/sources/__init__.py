"""One file per way of asking a machine; each maps question kinds to functions of one key."""
