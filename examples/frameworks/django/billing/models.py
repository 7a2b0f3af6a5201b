"""What billing keeps in its database."""

from django.db import models


class Invoice(models.Model):
    """What a subscription owes for a period; paid when it has a charge."""

    subscription_id = models.CharField(max_length=100)
    period = models.CharField(max_length=7)
    amount = models.PositiveIntegerField()
    charge = models.CharField(max_length=100, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["subscription_id", "period"], name="one_invoice_for_a_period"
            )
        ]

    def __str__(self) -> str:
        return f"{self.subscription_id} {self.period}"
