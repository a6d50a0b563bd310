"""YAML in which a key that is written twice is an error, not the end of the first one."""

from pathlib import Path
from typing import Any

from lakehouse.quality.errors import ContractError


def read_yaml(file: Path) -> Any:
    """What a file holds.

    Raises:
        ContractError: it is not YAML, or not UTF-8, or has a key twice.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            keys = [key.value for key, _ in node.value]
            for (key, _), name in zip(node.value, keys, strict=True):
                if keys.count(name) > 1:
                    raise yaml.MarkedYAMLError(problem=f"{name} is there twice", problem_mark=key.start_mark)
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(file.read_text(encoding="utf-8"), Loader)  # a SafeLoader
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ContractError(f"{file}{line}: this is not YAML: {error.problem}.") from error
    except yaml.YAMLError as error:
        raise ContractError(f"{file} is not YAML: {' '.join(str(error).split())}.") from error
    except OSError as error:
        raise ContractError(f"{file} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise ContractError(f"{file} cannot be read: {error}.") from error
