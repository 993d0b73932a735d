"""Runs probes under torch and joins what Dynamo did with the findings; only `child` ever imports torch."""
