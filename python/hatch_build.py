"""Builds the Go program into the wheel: src/autoshard/bin/autoshard."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TAGS = {("linux", "amd64"): "manylinux2014_x86_64", ("linux", "arm64"): "manylinux2014_aarch64",
        ("darwin", "amd64"): "macosx_11_0_x86_64", ("darwin", "arm64"): "macosx_11_0_arm64"}


class GoBinaryHook(BuildHookInterface):
    """Compiles cmd/autoshard for this system, or for that of GOOS and GOARCH, and tags the wheel with it."""

    def initialize(self, version, build_data):
        repository = Path(self.root).parent
        if not (repository / "go.mod").is_file():
            raise RuntimeError(f"{repository} is not a checkout of autoshard: wheels are built from one, by `pip install ./python`")
        go = shutil.which("go")
        if go is None:
            raise RuntimeError("autoshard's wheel holds a Go program: install Go 1.26 or newer, https://go.dev/dl")
        goos, goarch = subprocess.run([go, "env", "GOOS", "GOARCH"], check=True, text=True, stdout=subprocess.PIPE).stdout.split()
        if version != "editable":
            build_data["tag"] = "py3-none-" + TAGS.get((goos, goarch), sysconfig.get_platform().replace("-", "_").replace(".", "_"))
        build_data["pure_python"] = False
        target = Path(self.root) / "src/autoshard/bin/autoshard"
        subprocess.run([go, "build", "-ldflags=-s -w", "-o", target, "./cmd/autoshard"], cwd=repository, check=True,
                       env={"GOFLAGS": "-trimpath", **os.environ, "CGO_ENABLED": "0"})
