"""RQ4: which regression family?"""
