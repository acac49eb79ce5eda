"""Compare each kind of update alone: full mixture reuse and natural with full recomputation."""

from olmix.job import job_log
from olmix.questions.answer import Answer, QuestionData
from olmix.questions.operators import answer

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        data = QuestionData.from_job(snakemake)
        result = Answer(snakemake.output.answer, "operators", data)
        answer(data, result, snakemake.params.updates)
