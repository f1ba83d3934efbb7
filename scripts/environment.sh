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
    cat pyproject.toml scripts/constraints.txt
}

# Environments that these scripts made say where: programs in them name the folder, and fail when it moves.
MADE_FOR=.venv/made-for.txt

works() {
    usable .venv/bin/python && .venv/bin/python -m pip --version >/dev/null 2>&1 &&
        { [[ ! -e "$MADE_FOR" ]] || [[ "$(cat "$MADE_FOR")" == "$PWD" ]]; }
}

make_environment() {
    local python
    python="$(find_python)"
    say "making .venv with $("$python" --version), $python"
    mkdir .venv
    printf '%s\n' "$PWD" >"$MADE_FOR"
    quietly "$python" -m venv .venv
}

# install_environment [EXTRA]: has .venv hold qsproj, editable, with its pinned dependencies and those of EXTRA.
install_environment() {
    local extra="${1:-}"
    local stamp=".venv/installed${extra:+-$extra}.txt"
    if [[ -e .venv ]] && ! works; then
        if [[ ! -e "$MADE_FOR" ]]; then
            say "found a .venv without a working Python >= 3.11 and pip; remove it, and another is made"
            return 1
        fi
        say "removing .venv: it is not whole, or was made for another folder"
        rm -rf .venv
    fi
    [[ -e .venv ]] || make_environment
    if [[ -f "$stamp" ]] && recipe | cmp -s - "$stamp"; then
        return
    fi
    say "installing qsproj${extra:+ with what '$extra' needs} into .venv (once; a minute or two)"
    quietly .venv/bin/python -m pip install --disable-pip-version-check --no-input \
        -c scripts/constraints.txt -e ".${extra:+[$extra]}"
    recipe >"$stamp"
}
