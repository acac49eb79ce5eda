"""RQ3: from which distribution is a swarm drawn?"""
