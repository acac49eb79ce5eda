"""Answer RQ2: how many proxy runs does a swarm need?"""

from olmix.job import job_log
from olmix.questions.answer import Answer, QuestionData
from olmix.questions.rq2 import answer

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        data = QuestionData.from_job(snakemake)
        answer(data, Answer(snakemake.output.answer, "rq2", data))
