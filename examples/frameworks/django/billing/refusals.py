"""What Halyard's errors are over HTTP."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse

from halyard import ApiError, HalyardConnectionError, IdempotencyConflictError


class RefusalMiddleware:
    """Translates them for every view; other errors go on to Django."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Lets the request pass."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The answer for an error; None when it is not one of these."""
        if isinstance(error, IdempotencyConflictError):
            body = {"id": error.existing_job_id, "changed": error.changed}
            return JsonResponse({"error": "charged with other values", **body}, status=409)
        status = error.status if isinstance(error, ApiError) else None
        if isinstance(error, HalyardConnectionError) or status == 503:
            body = {"error": "come again in a moment"}
            return JsonResponse(body, status=503, headers={"Retry-After": "5"})
        if status == 404:
            return JsonResponse({"error": "no such charge"}, status=404)
        return None
