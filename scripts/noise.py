"""Measure how much runs of one mix differ from each other."""

from olmix.job import job_log
from olmix.questions.answer import Answer, QuestionData
from olmix.questions.noise import answer

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        data = QuestionData.from_job(snakemake)
        answer(data, Answer(snakemake.output.answer, "noise", data))
