"""The viewer answers its own page, and no other; what a file says is shown, and not run."""

import http.client
import re
from urllib.parse import quote

import pytest

import kinetree as kt
from kinetree.show.view import visitors
from kinetree.show.view.markdown import literal
from kinetree.show.view.numbers import of_link, of_state
from kinetree.show.view.viewer import Viewer
from kinetree.show.view.visitors import refusal
from tests.show.view.test_page import BROWSER, FLAGS, PATIENCE

NAMES = {"localhost"}, {"example.org"}
VALID = [
    ("127.0.0.1:8080", []),
    ("127.0.0.1:8080", ["http://127.0.0.1:8080"]),
    ("LOCALHOST:8080", ["http://localhost:8080"]),
    ("[::1]:8080", ["http://[::1]:8080"]),
    ("192.168.1.5:8080", ["http://192.168.1.5:8080"]),
    ("example.org", ["https://example.org"]),
    ("127.0.0.1:8080", ["https://example.org"]),
]
WRONG = [
    ("evil.example:8080", []),
    ("evil.example:8080", ["http://evil.example:8080"]),
    ("127.0.0.1.evil.example", []),
    ("localhost:8080", ["http://evil.example"]),
    ("localhost:8080", ["http://localhost:3000"]),
    ("localhost:8080", ["http://localhost"]),
    ("localhost:8080", ["null"]),
    ("localhost:8080", [""]),
    ("localhost:8080", ["http://127.0.0.1:8080"]),
    ("localhost:8080", ["http://[::1"]),
    ("", []),
    ("[::1", []),
]


@pytest.mark.parametrize(("host", "origins"), VALID)
def test_requests_for_this_computer_by_its_own_page_are_answered(host, origins):
    assert refusal([host], origins, *NAMES) is None


@pytest.mark.parametrize(("host", "origins"), WRONG)
def test_requests_for_other_names_or_by_other_pages_are_not(host, origins):
    assert "does not answer" in refusal([host], origins, *NAMES)


def test_a_request_with_two_hosts_or_none_is_not_answered():
    for hosts, origins in (([], []), (["localhost"] * 2, []), (["localhost"], ["a", "b"])):
        assert "one Host" in refusal(hosts, origins, *NAMES)


@pytest.fixture(scope="module")
def shown():
    pytest.importorskip("viser")
    viewer = Viewer(named("a"), port=8320, run=False, allow=["Proxy.example"])
    yield viewer
    viewer.close()


def answer(viewer, upgrade=False, path="/", **headers):
    """The status of a request."""
    connection = http.client.HTTPConnection("127.0.0.1", viewer.server.get_port(), timeout=20)
    version = __import__("viser").__version__
    opening = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Protocol": f"viser-v{version}",
    }
    connection.request("GET", path, headers=(opening if upgrade else {}) | headers)
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("upgrade", [False, True])
def test_the_server_checks_pages_and_websockets(shown, upgrade):
    own = 101 if upgrade else 200
    here = f"127.0.0.1:{shown.server.get_port()}"
    assert answer(shown, upgrade) == own
    assert answer(shown, upgrade, Origin=f"http://{here}") == own
    assert answer(shown, upgrade, Host="proxy.example", Origin="https://proxy.example") == own
    assert answer(shown, upgrade, Origin="http://evil.example") == 403
    assert answer(shown, upgrade, Host="evil.example") == 403


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("upgrade", [False, True])
def test_a_notebook_server_with_the_key_may_pass_on_requests_for_any_name(shown, upgrade):
    strange = {"Host": "hub.example", "Origin": "https://hub.example"}
    own = 101 if upgrade else 200
    assert answer(shown, upgrade, f"/{shown._key}/", **strange) == own
    assert answer(shown, upgrade, f"/{shown._key}", **strange) == own
    assert answer(shown, upgrade, f"/{shown._key}?x=1", **strange) == own
    for path in ("/", f"/{shown._key}x", f"/{shown._key[:-1]}/", f"/x/{shown._key}/"):
        assert answer(shown, upgrade, quote(path), **strange) == 403


@pytest.mark.filterwarnings("ignore")
def test_servers_of_others_are_left_alone(shown):
    import websockets.asyncio.server as websockets

    assert websockets.serve.__module__.startswith("websockets")


@pytest.mark.filterwarnings("ignore")
def test_a_release_of_viser_that_cannot_be_checked_is_refused(monkeypatch):
    pytest.importorskip("viser")
    monkeypatch.setattr(visitors, "SERVER_MODULE", "elsewhere")
    with pytest.raises(kt.errors.KinetreeError, match="starts its server in an unknown way"):
        Viewer(named("a"), port=8325, run=False)


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "{alert(1)}",
    "![x](/etc/passwd)",
    "[a](javascript:alert(1))",
    "a|b\n\n# title",
    "**a** `b` $c$ &lt; \\ ~ ^ _d_",
]


def named(name):
    """A robot whose link and joint have a name, and which has it itself."""
    assembly = kt.Assembly(name)
    joint = kt.joints.Revolute("z")
    assembly.add(name, "base", joint, mass=1.0, com=(0.1, 0.0, 0.0), name=name)
    return assembly.robot()


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_of_a_name_holds_nothing_but_letters_digits_and_references(name):
    assert re.fullmatch(r"(?:[\w ]|&#\d+;)*", literal(name))
    robot = named(name)
    q = robot.neutral()
    for text in (of_state(robot, q, q), of_link(robot, robot.bodies[0], q, q)):
        assert name not in text
        assert literal(name) in text


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(BROWSER is None, reason="no browser: install chromium")
def test_a_browser_shows_hostile_names_as_text_and_runs_nothing():
    pytest.importorskip("viser")
    playwright = pytest.importorskip("playwright.sync_api")
    name = (
        "<img src=x onerror=document.body.dataset.run=1>{document.body.dataset.run=1}![p](/p.png)"
    )
    viewer = Viewer(named(name), port=8330)
    viewer.select(name)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(viewer.url)
        page.get_by_text(f"{name}, 1 degrees of freedom").wait_for()
        page.get_by_text(f"{name}, moved by {name}").wait_for()
        page.get_by_text(f"{name}, rad").first.wait_for()
        page.get_by_role("tab", name="Numbers").click()
        page.get_by_role("cell", name=name).wait_for()
        assert page.evaluate("document.body.dataset.run") is None
        browser.close()
    viewer.close()
