"""What is kept of rows that no table takes: quarantine. Knows neither dlt nor Dagster."""
