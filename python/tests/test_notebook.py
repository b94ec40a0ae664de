"""The notebook in examples runs from its first cell to its last, and shows plans as notebooks do."""

import pathlib

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "examples/notebook.ipynb"


def test_notebook():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs are not committed"
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pages = [output["data"]["text/html"] for output in shown if "text/html" in output.get("data", {})]
    assert any("<svg" in page and "shardings" in page for page in pages)
    printed = "".join(output.get("text", "") for output in shown)
    assert "step 2: loss" in printed
    texts = "".join(output["data"].get("text/plain", "") for output in shown if "data" in output)
    assert "proved op by op" in texts and "params" in texts
