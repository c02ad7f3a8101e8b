"""What is packaged is what is here, the scripts parse, and the repository holds nothing that does not belong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGING = ROOT / "packaging"
TOP_LEVEL = {
    "pyproject.toml", "fabricdoctor", "checks", "tests", "packaging", "README.md", "ARCHITECTURE.md", "CHANGELOG.md",
    "LICENSE", ".gitignore", ".ci",
}  # fmt: skip
#: The checkout's own folder on this machine, and the hosts packages come from, which every site chooses for itself.
HOSTS = ("pypi", "pythonhosted", "debian", "ubuntu", "npmjs", "ghcr")
HERE = re.escape(str(ROOT)) if len(ROOT.parts) > 2 else "(?!)"  # a short path could stand in any text
FORBIDDEN = re.compile(rf"{HERE}(?=/)|\b(?:{'|'.join(HOSTS)})\.(?:org|com|io)\b")


def run(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tracked() -> list[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    return [name for name in run("git", "ls-files", "-z").split("\0") if name]


def scripts() -> list[Path]:
    """Return every shell script: by its first line, since most have no suffix."""
    files = [*PACKAGING.rglob("*"), *(ROOT / ".ci").glob("*"), *(ROOT / "tests").rglob("*.sh")]
    return sorted(
        f for f in files if f.is_file() and re.match(rb"#!.*\b(ba)?sh\b|# shellcheck shell=", f.read_bytes()[:80])
    )


@pytest.mark.parametrize("script", scripts(), ids=lambda path: str(path.relative_to(ROOT)))
def test_shell_script_parses(script: Path) -> None:
    assert run("bash", "-n", script) == ""


@pytest.mark.parametrize("name", ["test", "quickstart", "bench", "make-docs"])
def test_entry_script_can_be_run(name: str) -> None:
    assert os.access(PACKAGING / name, os.X_OK)


@pytest.mark.parametrize("name", ["test", "quickstart"])
def test_usage(name: str) -> None:
    assert run(PACKAGING / name, "--help", cwd=Path("/")).startswith(f"usage: packaging/{name}")
    wrong = subprocess.run([PACKAGING / name, "--no-such"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("usage: ")


def test_benchmark_that_does_not_exist() -> None:
    wrong = subprocess.run(
        [sys.executable, PACKAGING / "benchmarks", "nothing"], capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 2
    assert "check" in wrong.stderr


def test_top_level_holds_only_what_is_meant_to_be_there() -> None:
    assert {name.split("/")[0] for name in tracked()} - TOP_LEVEL == set()


def test_nothing_names_a_machine_or_a_package_host() -> None:
    found = [
        f"{name}: {match.group()}"
        for name in tracked()
        if ROOT / name != Path(__file__) and (ROOT / name).is_file()
        if (match := FORBIDDEN.search((ROOT / name).read_text(errors="replace")))
    ]
    assert found == []


def test_generated_documentation_is_current() -> None:
    assert run(sys.executable, PACKAGING / "make_docs.py", "--check") == ""


@pytest.mark.parametrize("text", ["<!-- nonsense:begin -->\n<!-- nonsense:end -->\n", "<!-- checks:begin -->\n"])
def test_documentation_with_a_block_nobody_makes(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PACKAGING))
    import make_docs

    (tmp_path / "README.md").write_text(text)
    with pytest.raises(make_docs.DocsError):
        make_docs.renewed(tmp_path / "README.md")


def test_build_is_the_checkout(tmp_path: Path) -> None:
    """Build sdist, wheel from it, install the wheel alone, and compare the checks."""
    if not os.environ.get("FABRICDOCTOR_BUILD"):
        pytest.skip("takes a minute; packaging/test sets FABRICDOCTOR_BUILD")
    run(sys.executable, "-m", "build", "--outdir", tmp_path, ROOT)
    [sdist], [wheel] = tmp_path.glob("*.tar.gz"), tmp_path.glob("*.whl")
    here = {file.relative_to(ROOT).as_posix() for file in (ROOT / "checks").rglob("*.py")}
    with tarfile.open(sdist) as archive:
        assert here <= {name.partition("/")[2] for name in archive.getnames()}
    with zipfile.ZipFile(wheel) as archive:
        assert {f"fabricdoctor/{name}" for name in here} <= set(archive.namelist())
    assert checks_of(installed(wheel, tmp_path), tmp_path) == checks_of(
        Path(sys.executable).with_name("fabricdoctor"), ROOT
    )


def installed(wheel: Path, folder: Path) -> Path:
    run(sys.executable, "-m", "venv", folder / "clean")
    run(folder / "clean/bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel)
    return folder / "clean/bin/fabricdoctor"


def checks_of(command: Path, cwd: Path) -> list[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    listed = json.loads(run(command, "checks", "--format", "json", cwd=cwd, env=clean))
    assert listed
    return [row["id"] for row in listed]
