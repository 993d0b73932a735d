"""Programs with the compiled calls in them, interpreted over what is known and with Dynamo's guards."""
