#!/bin/bash
# Run inside a machine with RDMA devices: prints the worker's answers and compares them with ibv_devinfo and sysfs.
# As root it also tries as uid 65534. PYTHON is an interpreter that can import pyverbs.
set -u
worker=$(dirname "$(readlink -f "$0")")/../../fabricdoctor/worker/verbs.py
python=${PYTHON:-/usr/bin/python3}
exec "$python" -I - "$python" "$worker" <<'PY'
import json, os, pathlib, re, resource, subprocess, sys

python, worker = sys.argv[1:]
bad = []


def ask(*questions, **options):
    done = subprocess.run([python, "-I", worker], input=json.dumps(questions) + "\n", stdout=subprocess.PIPE, text=True, **options)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for question, answer in zip(questions, answers):
        print(question, json.dumps(answer))
    same("answers and status", (len(answers), done.returncode), (len(questions), 0))
    return answers


def same(what, got, expected):
    if got != expected:
        bad.append(what)
        print(f"BAD {what}: {got!r}, expected {expected!r}")


def told(text, word):
    found = re.search(rf"^\s*{word}:\s+(\S+)", text, re.M)
    return found and found[1]


def limit():
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))


def compare(name, value):
    text = subprocess.run(["ibv_devinfo", "-v", "-d", name], stdout=subprocess.PIPE, text=True).stdout
    sysfs = pathlib.Path("/sys/class/infiniband", name)
    same("ports", len(value["ports"]), value["phys_port_cnt"])
    for key in ("node_guid", "sys_image_guid"):
        same(key, value[key], told(text, key))
        same(f"sysfs {key}", value[key], (sysfs / key).read_text().strip())
    for key in ("vendor_part_id", "max_qp", "max_cq", "phys_port_cnt"):
        same(key, value[key], int(told(text, key)))
    same("vendor_id", value["vendor_id"], int(told(text, "vendor_id"), 0))
    port, link = value["ports"]["1"], sysfs / "ports/1"
    for key in ("max_mtu", "active_mtu", "sm_lid", "gid_tbl_len", "pkey_tbl_len"):
        if told(text, key):
            same(key, port[key], int(told(text, key)))
    same("link layer", port["link_layer"], told(text, "link_layer"))
    same("state", port["state"], int((link / "state").read_text().split(":")[0]))
    same("phys_state", port["phys_state"], int((link / "phys_state").read_text().split(":")[0]))
    same("gbps", port["gbps"], float((link / "rate").read_text().split()[0]))
    same("width", f"{port['active_width']}X", told(text, "active_width"))
    gids = {int(file.name): file.read_text().strip() for file in (link / "gids").iterdir()}
    same("gids", {g["index"]: g["gid"] for g in port["gids"]}, {i: g for i, g in gids.items() if g.strip("0:")})
    for gid in port["gids"]:
        kind = (link / "gid_attrs/types" / str(gid["index"])).read_text().strip().replace("IB/RoCE v1", "RoCE v1")
        same("gid type", gid["type"].replace("IB", "RoCE v1"), kind)


names = ask(["verbs.devices", ""])[0].get("value", {}).get("devices", [])
if not names:
    sys.exit("no devices")
for name in names:
    device, usable = ask(["verbs.device", name], ["verbs.usable", name])
    compare(name, device["value"])
    steps = dict.fromkeys(("open", "pd", "cq", "qp", "mr"))
    same("usable", usable["value"], {"uid": os.geteuid(), "steps": steps})
    if os.geteuid() == 0:
        other = ask(["verbs.usable", f"{name} 65534"], preexec_fn=limit)[0]["value"]
        memory = other["steps"].pop("mr") or {}
        good = dict.fromkeys(("open", "pd", "cq", "qp"))
        same("as 65534", (other["uid"], other["steps"], memory.get("errno")), (65534, good, 12))
same("unknown device", ask(["verbs.device", "none0"])[0]["errno"], 2)
many = json.dumps([[kind, name] for name in names for kind in ("verbs.device", "verbs.usable")])
process = subprocess.Popen([python, "-I", worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
sizes = []
for turn in range(60):
    process.stdin.write(many + "\n"), process.stdin.flush()
    [process.stdout.readline() for _ in range(2 * len(names))]
    status = pathlib.Path(f"/proc/{process.pid}")
    sizes.append((int(re.search(r"VmRSS:\s+(\d+)", (status / "status").read_text())[1]), len(list((status / "fd").iterdir()))))
process.communicate()
print("memory in KiB and descriptors after 10 and 60 rounds:", sizes[9], sizes[-1])
same("descriptors", sizes[-1][1], sizes[9][1])
same("memory grows", sizes[-1][0] - sizes[9][0] < 512, True)
if bad:
    sys.exit(f"{len(bad)} bad: {bad}")
print("all good")
PY
