#!/usr/bin/env bash
# Build the wheel, and try it as a user would: in a fresh environment of each Python version that
# Kinetree promises and this machine has. A version that is missing is said and passed over.
#
#     tools/test_wheel.sh 3.10 3.11 3.12 3.13
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/interpreters.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH
export KINETREE_CACHE="$work/cache"

"${PYTHON:-python3}" -m venv "$work/build"
"$work/build/bin/python" -m pip install --quiet build
"$work/build/bin/python" -m build --outdir "$work/dist" . >"$work/build.log" || {
  cat "$work/build.log"
  exit 1
}
wheel=$(ls "$work"/dist/*.whl)
echo "$(basename "$wheel"): $(du -h "$wheel" | cut -f1)"

tried=0
for version in "$@"; do
  python=$(interpreter "$version")
  if [ -z "$python" ]; then
    echo "Python $version: not installed, passed over"
    continue
  fi
  "$python" -m venv "$work/$version"
  "$work/$version/bin/python" -m pip install --quiet "$wheel[cli]"
  # elsewhere, so that nothing is imported from the repository
  cp tools/smoke_test.py "$work/smoke_test.py"
  (cd "$work" && "$work/$version/bin/python" smoke_test.py)
  tried=$((tried + 1))
done
if [ "$tried" = 0 ]; then
  echo "none of Python $* is installed"
  exit 1
fi
