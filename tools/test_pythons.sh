#!/usr/bin/env bash
# Run the tiny suite on every Python version that Kinetree promises and this machine has,
# besides the one of `make test`. A version that is missing is said and passed over.
set -euo pipefail
cd "$(dirname "$0")/.."

. tools/interpreters.sh

for version in "$@"; do
  python=$(interpreter "$version")
  if [ -z "$python" ]; then
    echo "Python $version: not installed, passed over"
    continue
  fi
  echo "Python $version: $python"
  "$python" -m venv ".venv-$version"
  ".venv-$version/bin/python" -m pip install --quiet --editable . pytest hypothesis
  ".venv-$version/bin/python" -m pytest -q -p no:cacheprovider tests/test_tiny.py
done
