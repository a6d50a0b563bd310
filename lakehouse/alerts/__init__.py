"""Alerts: what went wrong in a step, told once to the people whose tables it is of. Knows no Dagster."""
