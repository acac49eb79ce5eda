"""Answer a question of the study: `olmix.questions.<question>.answer`."""

from importlib import import_module
from typing import Any

from olmix.provenance.job import job_log
from olmix.questions.answer import Answer, QuestionData

snakemake: Any  # what the workflow tells the job

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        question = snakemake.params.question
        data = QuestionData.from_job(snakemake)
        module = import_module(f"olmix.questions.{question}.answer")
        module.answer(data, Answer(snakemake.output.answer, question, data))
