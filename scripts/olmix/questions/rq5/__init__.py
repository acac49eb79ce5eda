"""RQ5: one model per task, per family of tasks, or one for the average?"""
