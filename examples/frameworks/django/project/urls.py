"""Which view answers where."""

from billing import views
from django.urls import path

urlpatterns = [
    path("charges", views.create_charge),
    path("charges/<id>", views.get_charge),
]
