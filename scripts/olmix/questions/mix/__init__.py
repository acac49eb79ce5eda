"""Which mix of one's own text?"""
