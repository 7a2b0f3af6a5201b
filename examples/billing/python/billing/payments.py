"""The payment provider, through Stripe's own client.

`STRIPE_API_URL` says where it is; without it, that is the address of `halyard demo-provider`, so
that nobody is charged by an example.
"""

from __future__ import annotations

import os
from functools import cached_property

import stripe


class Payments:
    """Charges cards with the key in `STRIPE_SECRET_KEY`."""

    @cached_property
    def client(self) -> stripe.StripeClient:
        """Stripe's client, made when it is first needed."""
        return stripe.StripeClient(
            os.environ.get("STRIPE_SECRET_KEY", "sk_test_halyard_demo"),
            base_addresses={"api": os.environ.get("STRIPE_API_URL", "http://127.0.0.1:7374")},
            # Halyard tries again, and waits longer than a handler should.
            max_network_retries=0,
        )

    def charge(
        self, *, customer: str, amount: int, currency: str, idempotency_key: str
    ) -> stripe.Charge:
        """Charges a customer's card. The same key gets the same charge back."""
        return self.client.v1.charges.create(
            {"customer": customer, "amount": amount, "currency": currency},
            {"idempotency_key": idempotency_key},
        )

    @property
    def charges(self) -> list[stripe.Charge]:
        """Every charge that the provider knows of, the newest first."""
        return list(self.client.v1.charges.list({"limit": 100}).auto_paging_iter())

    def add_customer(self, source: str) -> stripe.Customer:
        """A customer with a card, for instance the test card `tok_visa`."""
        return self.client.v1.customers.create({"source": source})


payments = Payments()
