"""Former names of options: still read, no longer shown."""

import argparse


def with_former_name(
    options: argparse._ActionsContainer, action: argparse.Action, *names: str
) -> argparse.Action:
    """Have an option be read by its former names, too; help and messages show its present one."""
    options._option_string_actions.update(dict.fromkeys(names, action))
    return action
