"""What is wrong with a contract, for whoever wrote it."""


class ContractError(ValueError):
    """A contract is missing or is not one; the message says which, why and what to do."""
