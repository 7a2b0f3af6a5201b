"""The table of invoices; made by `manage.py makemigrations`."""

from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            name="Invoice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("subscription_id", models.CharField(max_length=100)),
                ("period", models.CharField(max_length=7)),
                ("amount", models.PositiveIntegerField()),
                ("charge", models.CharField(blank=True, max_length=100)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("subscription_id", "period"), name="one_invoice_for_a_period"
                    )
                ],
            },
        ),
    ]
