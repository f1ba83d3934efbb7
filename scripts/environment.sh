# Sourced by the scripts beside it: goes to the checkout and keeps an environment for it in .venv/.
# PYTHON names the interpreter to use; without it the first Python >= 3.11 on the PATH is taken.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
}

# Succeeds when the interpreter runs, is new enough, and can make environments (Debian splits that off).
usable() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3 python}; do
        if usable "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    if [[ -n "${PYTHON:-}" ]]; then
        say "PYTHON=$PYTHON does not run, is older than Python 3.11, or lacks the venv module"
    else
        say "found no Python >= 3.11 with the venv module; install one (Debian, Ubuntu: apt install python3-venv)," \
            "or name one: PYTHON=/path/to/python $0"
    fi
    return 1
}

# Runs a command; shows what it printed only when it fails.
quietly() {
    local log
    log="$(mktemp)"
    if ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        say "this failed: $*"
        return 1
    fi
    rm -f "$log"
}

# What an installation depends on: when this text changes, it is made again.
recipe() {
    printf '%s\n' "$PWD"
    cat pyproject.toml scripts/constraints.txt
}

# install_environment [EXTRA]: has .venv hold qsproj, editable, with its pinned dependencies and those of EXTRA.
install_environment() {
    local extra="${1:-}"
    local stamp=".venv/installed${extra:+-$extra}.txt"
    if [[ -x .venv/bin/python && -f "$stamp" ]] && recipe | cmp -s - "$stamp"; then
        return
    fi
    if [[ -e .venv ]] && ! usable .venv/bin/python; then
        say "removing .venv, which is not usable"
        rm -rf .venv
    fi
    if [[ ! -e .venv ]]; then
        local python
        python="$(find_python)"
        say "making .venv with $("$python" --version), $python"
        quietly "$python" -m venv .venv
    fi
    say "installing qsproj${extra:+ with what '$extra' needs} into .venv (once; a minute or two)"
    quietly .venv/bin/python -m pip install --disable-pip-version-check --no-input \
        -c scripts/constraints.txt -e ".${extra:+[$extra]}"
    recipe >"$stamp"
}
