"""What people run and read beside the pipeline."""
