"""Answer RQ3: from which distribution should a swarm be sampled?"""

from olmix.job import job_log
from olmix.questions.answer import Answer, QuestionData
from olmix.questions.rq3 import answer

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        data = QuestionData.from_job(snakemake)
        answer(data, Answer(snakemake.output.answer, "rq3", data))
