from fabricdoctor.check import Expect, Fault, RailPath, Severity, check, known


@check(over=lambda node: node.paths, severity=Severity.CRITICAL, explained_by=("port-not-active", "no-address-on-rail"))
def rail_without_route(rail: RailPath, _: Expect) -> Fault | None:
    """
    ## What it looks at
    The way out of each active RoCE rail with a routable address, in the tables its packets are looked up in: a rule
    for its address that leads to an empty table, no route by its interface although most rails have one, or
    gateways that just now did not answer. A fabric where no rail has a gateway needs none.

    ## Why it matters
    A rail without a way reaches its own leaf switch only: connections to other racks time out, or are refused with
    `Network is unreachable`.

    ## How to fix
    Write rule and route into the network manager's configuration, so that they are there after a reboot. A gateway
    that does not answer: compare its address with the switch's, then VLAN and cabling of this port.
    """
    if not known(rail.port.active):
        return None
    ways, name, table = known(rail.ways), rail.interface, next(iter(rail.unused_tables), "TABLE")
    route, rule = f"{rail.command} route add default via GATEWAY dev {name} table", f"{rail.command} rule add from"
    if rail.empty_table is not None and not ways:
        saw = f"the rule for {rail.ip} leads to table {rail.empty_table}, which is empty"
        return Fault(saw, "a route in it", f"{route} {rail.empty_table}")
    if known(rail.is_odd):
        has = f"; table {table} has one, but no rule leads there" if rail.unused_tables else ""
        saw = f"no route beyond {rail.subnet}{has}; {rail.routed_siblings} of its siblings have one"
        steps = [f"{rule} {rail.ip} table {table}"] + ([] if has else [f"{route} {table}"])
        return Fault(saw, "a route as its siblings have", "; ".join(steps))
    silent = known(rail.silent)
    if not silent:
        return None
    saw = " and ".join(f"gateway {gateway} ({state})" for gateway, state in silent)
    fix = "; ".join(f"ip neigh show {g} dev {name}; ping -c 3 -I {name} {g}" for g, _ in silent)
    return Fault(f"no answer from {saw}", "a gateway that answers", fix)
