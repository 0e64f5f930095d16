"""A pytest plug-in: the clients of google-genai's tests read no base URL from the environment, so it is set here."""

import os
import sys

BASE_URL = os.environ["TRIVIUM_RECORDER"]


def pytest_collection_finish(session):
    modules = [module for name, module in sys.modules.items() if name.endswith("genai._replay_api_client")]
    assert modules, "google-genai's test client was not found, and its tests would call the vendor"
    for module in modules:
        client = module.ReplayApiClient
        options = module.HttpOptions
        start = client.__init__

        def at_recorder(self, *arguments, _start=start, _options=options, http_options=None, **named):
            given = http_options.model_dump(exclude_none=True) if hasattr(http_options, "model_dump") else (http_options or {})
            _start(self, *arguments, http_options=_options(**{**given, "base_url": BASE_URL}), **named)

        client.__init__ = at_recorder
