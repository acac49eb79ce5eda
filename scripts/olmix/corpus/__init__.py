"""Text, tokens and mixes: from user files to the sequences a run is trained on."""
