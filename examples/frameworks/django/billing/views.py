"""The two routes: ask for a charge, and look how far it is."""

import json
import re

from django.db import transaction
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_GET, require_POST

from halyard import CreatedJob

from .jobs import halyard, request_charge
from .models import Invoice


@require_POST
def create_charge(request: HttpRequest) -> JsonResponse:
    """Saves an invoice and asks for its charge; asked again, it answers with the same job."""
    try:
        body = json.loads(request.body)
        subscription, period, amount = body["subscription_id"], body["period"], int(body["amount"])
    except (KeyError, TypeError, ValueError):
        return JsonResponse({"error": "subscription_id, period and amount are needed"}, status=400)
    if not subscription or not re.fullmatch(r"\d{4}-\d\d", str(period)):
        return JsonResponse({"error": "a period is one such as 2026-11"}, status=400)

    created: list[CreatedJob] = []
    with transaction.atomic():
        invoice, _ = Invoice.objects.get_or_create(
            subscription_id=subscription, period=period, defaults={"amount": amount}
        )
        if invoice.amount != amount:
            return JsonResponse({"error": "invoiced with another amount"}, status=409)
        # Not before the commit: a worker would look for a row that is not there yet, or never is.
        transaction.on_commit(lambda: created.append(request_charge(invoice)))
    (job,) = created
    return JsonResponse({"id": job.id, "replayed": job.replayed}, status=202)


@require_GET
def get_charge(request: HttpRequest, id: str) -> JsonResponse:
    """How far it is."""
    job = halyard.jobs.get(id)
    return JsonResponse({"id": job.id, "state": job.state, "result": job.result})
