"""RQ1: how small may a proxy be?"""
