"""The earlier place of `holdfast.api.project`, for programs that import `hub_here` from here."""

from holdfast.api.project import hub_here as hub_here
