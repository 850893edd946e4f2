# The interpreter of a Python version: on the PATH, or one of pyenv's. To be sourced.
interpreter() {
  local found
  for found in "$(command -v "python$1" || true)" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1."*/bin/python; do
    if [ -n "$found" ] && "$found" -c '' 2>/dev/null; then
      echo "$found"
      return
    fi
  done
}
