"""The contracts of a project: which tables have one, and each read once."""

import re
from collections.abc import Mapping
from pathlib import Path

from lakehouse.quality.contract import Contract, read_contract
from lakehouse.quality.errors import ContractError

TABLE = re.compile(r"(bronze|silver|gold)\.\w+")


class Contracts:
    """The files below `checks/`.

    Args:
        folder: with a folder for each layer.
        load_columns: what every Bronze table has beside the columns of its contract, with SQL types.
    """

    def __init__(self, folder: Path, load_columns: Mapping[str, str]) -> None:
        self.folder = folder
        self.load_columns = load_columns
        self._read: dict[str, Contract] = {}

    def file(self, table: str) -> Path:
        """Where the contract of a table stands, or would.

        Raises:
            ContractError: this is no name of a table that may have one.
        """
        if not TABLE.fullmatch(table):
            raise ContractError(f"{table} is no table of Bronze, Silver or Gold, such as silver.flights.")
        layer, name = table.split(".")
        return self.folder / layer / f"{name}.yml"

    def tables(self) -> list[str]:
        """The tables that have a contract."""
        return sorted(f"{file.parent.name}.{file.stem}" for file in self._files() if self._in_place(file))

    def misplaced(self) -> list[Path]:
        """Files that nothing reads."""
        return sorted(file for file in self._files() if not self._in_place(file))

    def read(self, table: str) -> Contract:
        """The contract of a table.

        Raises:
            ContractError: there is none, or it is not one.
        """
        if table not in self._read:
            self._read[table] = read_contract(self.file(table), table)
        return self._read[table]

    def columns(self, table: str) -> dict[str, str]:
        """The columns that the rows of a table have when they are judged, with their SQL types.

        Raises:
            ContractError: the table has no contract, or it is not one.
        """
        declared = {column.name: column.type for column in self.read(table).columns}
        return declared | (dict(self.load_columns) if table.startswith("bronze.") else {})

    def _files(self) -> list[Path]:
        return [file for file in self.folder.rglob("*") if file.suffix in (".yml", ".yaml")]

    def _in_place(self, file: Path) -> bool:
        table = f"{file.parent.name}.{file.stem}"
        return bool(TABLE.fullmatch(table)) and file == self.file(table)
