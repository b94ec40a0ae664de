// Package modelexplorer has the tests of node data against Google's Model Explorer:
//
//	python -m venv venv && venv/bin/pip install ai-edge-model-explorer
//	AUTOSHARD_MODEL_EXPLORER=$PWD/venv/bin/python go test -C tools ./modelexplorer            # from the root of the repository
//	AUTOSHARD_MODEL_EXPLORER=$PWD/venv/bin/python go test -C tools ./modelexplorer -rewrite   # records the nodes of a sample
//
// They are skipped, with a message, where AUTOSHARD_MODEL_EXPLORER names no Python that has it: its adapter alone is 500 MB.
package modelexplorer
