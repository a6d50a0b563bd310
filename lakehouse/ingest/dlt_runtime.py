"""dlt, imported with its telemetry off."""

import os
from types import ModuleType


def import_dlt() -> ModuleType:
    """Import dlt; the switch has to be set before dlt reads its configuration."""
    os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
    import dlt

    return dlt
