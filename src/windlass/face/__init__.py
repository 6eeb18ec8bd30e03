"""What a program holds in its hands: declaring, delivering and the nouns, awaited and blocking."""
