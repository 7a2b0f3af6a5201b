"""The handlers of docs/testing.md. What they change is in another module, as in a program."""

from halyard import Job

from .shop import db, payments


def process_payment(job: Job) -> str:
    done = db.find(job.id)
    if done is not None:
        return done
    response = payments.charge()
    db.insert(job.id, response)
    return response


def process_payment_once(job: Job) -> str:
    done = db.find(job.id)
    if done is not None:
        return done
    response = payments.charge(job.id)
    db.insert(job.id, response)
    return response
