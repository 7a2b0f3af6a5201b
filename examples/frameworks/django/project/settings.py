"""Django's settings, as few as there can be."""

import os
from pathlib import Path

SECRET_KEY = os.environ.get("SECRET_KEY", "only for an example")
ALLOWED_HOSTS = ["127.0.0.1"]
INSTALLED_APPS = ["billing"]
MIDDLEWARE = [
    "django.middleware.common.CommonMiddleware",
    "billing.refusals.RefusalMiddleware",
]
ROOT_URLCONF = "project.urls"
WSGI_APPLICATION = "project.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ.get("DATABASE", Path(__file__).parent.parent / "db.sqlite3"),
        # Requests and jobs write at the same time; SQLite lets them wait for each other.
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20},
    }
}
