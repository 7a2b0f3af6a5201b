"""Ten subscriptions to try with. The last one's bank says no to every charge.

`python -m billing.sample`
"""

from .db import db
from .payments import payments


def sample() -> None:
    """Makes those that are not there yet."""
    for number in range(1, 11):
        id = f"sub_{number:02}"
        if db.subscriptions.find(id):
            continue
        customer = payments.add_customer("tok_visa" if number < 10 else "tok_chargeCustomerFail")
        db.subscriptions.insert(id=id, customer_id=customer.id, price=4800)
        print(f"{id}: {customer.id}")


if __name__ == "__main__":
    sample()
