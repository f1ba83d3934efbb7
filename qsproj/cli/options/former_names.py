"""Former names of options: still accepted, not shown in help."""

import argparse


def with_former_name(
    options: argparse._ActionsContainer, action: argparse.Action, *names: str
) -> argparse.Action:
    """Accept former names of an option; help and messages show the present one."""
    options._option_string_actions.update(dict.fromkeys(names, action))
    return action
