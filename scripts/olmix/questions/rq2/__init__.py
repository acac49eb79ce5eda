"""RQ2: how many proxy runs does a swarm need?"""
