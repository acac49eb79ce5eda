"""RQ7: which solver?"""
