"""Checks are found by path, safely."""

import os

import pytest

from fabricdoctor import catalogue
from fabricdoctor.catalogue import CatalogueError

CHECK = '''
from fabricdoctor.check import Severity, check


@check(over=lambda node: node.rails, severity=Severity.INFO)
def {name}(rails, expect):
    """Looks at the rails. And more."""
'''


@pytest.fixture
def folder(tmp_path):
    def write(path, name):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(CHECK.format(name=name))
        return file

    tmp_path.chmod(0o755)
    write("nic/one.py", "one")
    return tmp_path, write


def test_a_check_knows_its_area_and_file(folder):
    tmp, _ = folder
    found = catalogue.load([tmp])
    assert found.checks["one"].area == "nic"
    assert found.checks["one"].file.endswith("nic/one.py")


def test_a_later_directory_replaces_and_two_ids_in_one_are_an_error(folder, tmp_path_factory):
    tmp, write = folder
    site = tmp_path_factory.mktemp("site")
    (site / "mine.py").write_text(CHECK.format(name="one"))
    assert catalogue.load([tmp, site]).checks["one"].file.endswith("mine.py")
    write("nic/two.py", "one")
    with pytest.raises(CatalogueError, match=r"the id 'one' is also in .*one\.py"):
        catalogue.load([tmp])


@pytest.mark.parametrize("text", ["import nothing_there", "def (", "1 / 0"])
def test_a_file_that_does_not_load_is_named_and_the_others_work(folder, text):
    tmp, _ = folder
    (tmp / "nic" / "bad.py").write_text(text)
    found = catalogue.load([tmp])
    assert list(found.checks) == ["one"]
    assert [file.rsplit("/", 1)[1] for file in found.broken] == ["bad.py"]


def test_a_missing_directory(tmp_path):
    with pytest.raises(CatalogueError, match="no such directory of checks"):
        catalogue.load([tmp_path / "gone"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root refuses them: it would run what another user wrote")
@pytest.mark.parametrize("what", ["file", "area", "top"])
def test_root_refuses_what_others_can_write(folder, what):
    tmp, _ = folder
    target = {"file": tmp / "nic" / "one.py", "area": tmp / "nic", "top": tmp}[what]
    target.chmod(0o777)
    with pytest.raises(CatalogueError, match="others can write it, and root would run it: chmod go-w"):
        catalogue.load([tmp])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_root_refuses_another_owner(folder):
    tmp, _ = folder
    os.chown(tmp / "nic" / "one.py", 65534, 65534)
    with pytest.raises(CatalogueError, match="owned by uid 65534"):
        catalogue.load([tmp])


def test_an_unknown_id_is_refused_with_the_nearest(folder):
    tmp, _ = folder
    with pytest.raises(CatalogueError, match="--skip: no check is called 'ome'; did you mean 'one'"):
        catalogue.load([tmp]).matching(["ome"], "--skip")
    assert catalogue.load([tmp]).matching(["o*"], "--only") == {"one"}


def test_checks_that_explain_each_other_are_refused(folder):
    tmp, write = folder
    for name, cause in (("one", "two"), ("two", "one")):
        file = write(f"nic/{name}.py", name)
        file.write_text(file.read_text().replace("INFO)", f'INFO, explained_by=("{cause}",))'))
    with pytest.raises(CatalogueError, match=r"one\.py: 'one' explains itself"):
        catalogue.load([tmp])
