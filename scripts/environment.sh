# Sourced by the scripts beside it: goes to the checkout and keeps environments for it, in .venv/ and beside it.
# PYTHON names the interpreter to use; without it the first Python >= 3.11 on the PATH is taken.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Where the environment is, and which versions it holds. Another of each script's own choosing: set both before
# install_environment.
VENV=.venv
CONSTRAINTS=scripts/constraints.txt

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
    cat pyproject.toml "$CONSTRAINTS"
}

# Environments that these scripts made say where: programs in them name the folder, and fail when it moves.
made_for() {
    printf '%s/made-for.txt' "$VENV"
}

works() {
    usable "$VENV/bin/python" && "$VENV/bin/python" -m pip --version >/dev/null 2>&1 &&
        { [[ ! -e "$(made_for)" ]] || [[ "$(cat "$(made_for)")" == "$PWD" ]]; }
}

make_environment() {
    local python
    python="$(find_python)"
    say "making $VENV with $("$python" --version), $python"
    mkdir "$VENV"
    printf '%s\n' "$PWD" >"$(made_for)"
    quietly "$python" -m venv "$VENV"
}

# install_environment [EXTRA]: has $VENV hold qsproj, editable, with its pinned dependencies and those of EXTRA.
install_environment() {
    local extra="${1:-}"
    local stamp="$VENV/installed${extra:+-$extra}.txt"
    if [[ -e "$VENV" ]] && ! works; then
        if [[ ! -e "$(made_for)" ]]; then
            say "found a $VENV without a working Python >= 3.11 and pip; remove it, and another is made"
            return 1
        fi
        say "removing $VENV: it is not whole, or was made for another folder"
        rm -rf "$VENV"
    fi
    [[ -e "$VENV" ]] || make_environment
    if [[ -f "$stamp" ]] && recipe | cmp -s - "$stamp"; then
        return
    fi
    say "installing qsproj${extra:+ with what '$extra' needs} into $VENV (once; a minute or two)"
    quietly "$VENV/bin/python" -m pip install --disable-pip-version-check --no-input \
        -c "$CONSTRAINTS" -e ".${extra:+[$extra]}" || return 1
    recipe >"$stamp"
}
