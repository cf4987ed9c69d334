# SPDX-License-Identifier: Apache-2.0
"""The recipes of conda, Spack and the container name what the project has, in its versions."""

import ast
import re
import tomllib

import yaml
from conftest import SOURCE, call
from test_spack import calls

VERSION = (SOURCE / "VERSION").read_text().strip()
PROJECT = tomllib.loads((SOURCE / "pyproject.toml").read_text())
# Where a package has another name than at pip.
CONDA = {"xxhash": "python-xxhash", "nlohmann-json": "nlohmann_json"}


def least(requirements: list[str]) -> dict[str, str]:
    """The least version of each, by its name."""
    found = [re.fullmatch(r"([\w.-]+)\s*>=\s*([\d.]+)", one) for one in requirements]
    return {one[1].lower(): one[2] for one in found if one}


RUN = least(PROJECT["project"]["dependencies"])
BUILD = least(PROJECT["build-system"]["requires"])


def test_there_is_something_to_compare() -> None:
    assert len(RUN) == len(PROJECT["project"]["dependencies"]) >= 10
    assert len(BUILD) == len(PROJECT["build-system"]["requires"])


def test_conda_asks_for_what_pip_asks_for() -> None:
    recipe = yaml.safe_load((SOURCE / "packaging/conda/recipe.yaml").read_text())
    assert recipe["context"]["version"] == VERSION
    assert recipe["package"]["name"] == PROJECT["project"]["name"]
    assert recipe["about"]["license"] == PROJECT["project"]["license"]
    assert (SOURCE / recipe["about"]["license_file"]).is_file()
    assert (SOURCE / "packaging/conda" / recipe["source"]["path"] / "pyproject.toml").is_file()
    for asked, kind in ((RUN, "run"), (BUILD, "host")):
        named = {CONDA.get(name, name): version for name, version in asked.items()}
        found = least(recipe["requirements"][kind])
        assert named == {name: version for name, version in found.items() if name != "xxhash"}


def test_the_command_of_spack_has_what_it_imports() -> None:
    asked = {}
    for one in calls("depends_on"):
        words = {word.arg: ast.literal_eval(word.value) for word in one.keywords}
        name, _, version = ast.literal_eval(one.args[0]).partition("@")
        if name.startswith("py-") and words["type"] == ("build", "run"):
            assert words["when"] == "+python"
            asked[name.removeprefix("py-")] = version.rstrip(":")
    assert asked == RUN


def test_the_container_calls_what_there_is() -> None:
    text = (SOURCE / "packaging/container/Containerfile").read_text()
    assert f"tailrace:{VERSION} " in text
    goals = re.findall(r"&& make (\w+)", text)
    assert goals == ["bundle"]
    assert "bundle.sh" in call("make", "-n", "-C", SOURCE, *goals)
    packages = re.findall(r"--no-install-recommends ([\w -]+) \\\n", text)
    assert len(packages) == 2
    listed = (SOURCE / "cmake/setup/packages-build.txt").read_text()
    known = set(re.findall(r"^[\w-]+", listed, re.MULTILINE)) | {"python3"}
    assert set(" ".join(packages).split()) <= known
    installer = (SOURCE / "cmake/setup/install_bundle.sh").read_text()
    assert "--prefix DIR" in installer and "install.sh --prefix /opt/tailrace" in text
    assert "packages=$prefix/lib/tailrace/python" in installer
    assert "PYTHONPATH=/opt/tailrace/lib/tailrace/python" in text
