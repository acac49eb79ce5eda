"""Compare the strategies where repetition caps are tight and where few runs are paid for."""

from olmix.job import job_log
from olmix.questions.answer import Answer, QuestionData
from olmix.questions.updates import budgets

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        data = QuestionData.from_job(snakemake)
        budgets(data, Answer(snakemake.output.answer, "budgets", data), snakemake.params.groups)
