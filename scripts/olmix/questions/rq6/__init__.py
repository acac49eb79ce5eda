"""RQ6: where are repetition caps enforced?"""
