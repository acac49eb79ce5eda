"""Compare the strategies over all updates: gains over natural, cost, mixes, data efficiency."""

from olmix.job import job_log
from olmix.questions.answer import Answer, QuestionData
from olmix.questions.updates import answer

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        data = QuestionData.from_job(snakemake)
        result = Answer(snakemake.output.answer, "updates", data)
        answer(data, result, snakemake.params.chains, snakemake.params.stage)
