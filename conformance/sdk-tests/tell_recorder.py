"""A pytest plug-in: reports to the recorder which test runs, and how it ended."""

import json
import os
import urllib.request

RECORDER = os.environ["TRIVIUM_RECORDER"]


def tell(event: str, **facts: object) -> None:
    request = urllib.request.Request(f"{RECORDER}/-/{event}", json.dumps(facts).encode(), method="POST")
    urllib.request.urlopen(request, timeout=30).close()


def pytest_runtest_logstart(nodeid, location):
    tell("begin", test=nodeid)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
        tell("end", test=report.nodeid, outcome=report.outcome, why=str(getattr(crash, "message", ""))[:500])
