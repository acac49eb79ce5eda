"""Measure the terms of both theorems on single additions, and the gaps they are to explain."""

from olmix.job import job_log
from olmix.questions.answer import Answer, QuestionData
from olmix.questions.theory import answer

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        data = QuestionData.from_job(snakemake)
        result = Answer(snakemake.output.answer, "theory", data)
        answer(data, result, snakemake.params.updates)
