"""The surroundings of a job: what its environment says to torch, and whether its folders can be used."""
