"""Fuzz the readers of SDF and xacro: `python -m tools.fuzz_files --count 50000`.

Each file is a valid document after some random edits, in a folder beside others that it may
include. It must give a model or a ModelError. A hook of the interpreter watches every file that is
opened: one outside of the folder is a finding, and so is a file that takes too long. The address
space of the process is limited, so that a file that takes too much memory is one as well.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from tests.model.sdf_texts import DOCUMENTS, link, sdf
from tests.model.test_xacro import ARM, FILES, NAMESPACE

from kinetree.errors import KinetreeError, ModelError
from kinetree.robot.load import check_file, load_model

SLOWEST = 20.0
"""Seconds of processor time that one file may take; the slowest are beside 0.1."""
MEMORY = 6 << 30
PART = sdf(f"<model name='part'>{link('a')}{link('b')}</model>")
LOOP = f"""<model name="m">{link("a")}{link("b")}{link("c")}
<joint name="i" type="ball"><parent>a</parent><child>b</child></joint>
<joint name="j" type="revolute"><parent>b</parent><child>c</child>
<axis><xyz>0 0 1</xyz></axis></joint>
<joint name="k" type="gearbox"><parent>b</parent><child>c</child><gearbox_ratio>2</gearbox_ratio>
<gearbox_reference_body>a</gearbox_reference_body></joint>
<joint name="l" type="screw"><parent>a</parent><child>c</child>
<thread_pitch>3</thread_pitch></joint>
<include><uri>part.sdf</uri><name>x</name><pose>0 0 1 0 0 0</pose></include></model>"""
SDFS = [*DOCUMENTS.values(), sdf(LOOP)]
WIDE = f"""<robot {NAMESPACE} name="wide"><xacro:property name="w" value="${{2 * 0.1}}"/>
<xacro:macro name="part" params="n parent *at m:=1"><link name="p${{n}}"><inertial>
<mass value="${{m}}"/><inertia ixx="${{w}}" iyy="${{w}}" izz="${{w}}"/></inertial></link>
<joint name="j${{n}}" type="revolute"><parent link="${{parent}}"/><child link="p${{n}}"/>
<xacro:insert_block name="at"/>
<limit lower="${{-pi / 2}}" upper="${{pi}}" effort="${{max(1, 2)}}" velocity="1"/></joint>
</xacro:macro><link name="base"/><xacro:part n="1" parent="base">
<origin xyz="0 0 ${{w}}"/></xacro:part>
<xacro:if value="${{w > 0.1}}"><xacro:part n="2" parent="p1" m="${{w * 3}}"><origin/></xacro:part>
</xacro:if></robot>"""
XACROS = [FILES["robot.xacro"], ARM, WIDE, WIDE]
VALUE = re.compile(rb"""(?<=>)[^<>]+(?=<)|(?<==")[^"<>]*(?=")|(?<==')[^'<>]*(?=')""")
WORDS = """
0 1 -1 nan inf 1e308 1e-320 1e999 a b c x world __model__ inner::a :: a::b part.sdf ../x.sdf
/etc/passwd model://part model://.. file:///etc/passwd package://a/b.sdf true false revolute
ball screw universal fixed gearbox revolute2 prismatic continuous relative_to attached_to
expressed_in placement_frame canonical_link auto merge version 1.4 1.6 2.0 link joint model
world frame include pose static inertial mass axis axis2 mimic xacro:if xacro:macro
xacro:include xacro:property xacro:insert_block xacro:call xacro:element ${a} ${w} ${1/0}
${9**9**9} ${[0]*10**9} ${'a'*10**9} ${range(10**9)} ${x.y} ${load_yaml('/etc/passwd')}
${().__class__} $(find a) $(env HOME) $(arg x) $(eval 1) $${ ${ $( } ) *.xacro ../*.xacro & < >
" ' /> <!-- --> <![CDATA[ ]]> &#0; <!DOCTYPE
"""
WORD_LIST = WORDS.split()


def damaged(text: str, others: list[str], rng: random.Random) -> bytes:
    """A document after some edits."""
    data = text.encode()
    gentle = rng.random() < 0.6  # only values, so that most of it is still read
    for _ in range(rng.randint(1, 2 if gentle else 6)):
        if gentle:
            values = list(VALUE.finditer(data))
            value, word = rng.choice(values), rng.choice(WORD_LIST).encode()
            word = rng.choice((word, rng.choice(values)[0], value[0] + b" " + word, b""))
            data = data[: value.start()] + word + data[value.end() :]
            continue
        at = rng.randint(0, len(data))
        end = min(len(data), at + rng.randint(0, 60))
        edit = rng.choice(("flip", "delete", "repeat", "splice", "word", "token", "token", "swap"))
        if edit == "flip" and at < len(data):
            data = data[:at] + bytes([data[at] ^ (1 << rng.randint(0, 7))]) + data[at + 1 :]
        elif edit == "delete":
            data = data[:at] + data[end:]
        elif edit == "repeat":
            data = data[:at] + data[at:end] * rng.randint(2, 20) + data[end:]
        elif edit == "splice":
            other = rng.choice(others).encode()
            start = rng.randint(0, len(other))
            data = data[:at] + other[start : start + rng.randint(0, 200)] + data[end:]
        elif edit == "word":
            data = data[:at] + rng.choice(WORD_LIST).encode() + data[at:]
        else:
            pattern = rb"[\w.+:-]+" if edit == "token" else rb"<[^<>]*>"
            tokens = list(re.finditer(pattern, data))
            if tokens:
                token, other_token = rng.choice(tokens), rng.choice(tokens)
                word = rng.choice(WORD_LIST).encode() if edit == "token" else other_token[0]
                data = data[: token.start()] + word + data[token.end() :]
    return data


class Watch:
    """Every file that is opened while it is on, outside of some folders."""

    def __init__(self, *allowed: str) -> None:
        self.on, self.seen, self._allowed = False, list[str](), allowed
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.on and event in ("open", "os.system", "subprocess.Popen", "socket.connect"):
            name = str(arguments[0])
            if event != "open" or not os.path.realpath(name).startswith(self._allowed):
                self.seen.append(f"{event} {name}")


def tried(path: Path) -> str:
    """What became of a file: "model" or "refused"; anything else is a finding."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load_model(path)
            check_file(path)
        return "model"
    except ModelError:
        return "refused"
    except KinetreeError as e:
        return f"{type(e).__name__}: {e}"
    except Exception:
        return traceback.format_exc(limit=-4)


def run(count: int, seed: int) -> int:
    """Fuzz; the number of findings."""
    from kinetree.model.formats import sdf as _sdf  # noqa: F401 - imported before files are watched
    from kinetree.model.formats import xacro as _xacro  # noqa: F401

    rng, counts, findings, slowest = random.Random(seed), dict[str, int](), 0, 0.0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve() / "robot"
        (folder / "more").mkdir(parents=True)
        for name, text in {**FILES, "part.sdf": PART}.items():
            (folder / name).write_text(text)
        (folder.parent / "x.sdf").write_text(PART)
        libraries = (sys.prefix, sys.base_prefix, str(Path(__file__).resolve().parents[1]))
        watch = Watch(str(folder), *libraries)
        for k in range(count):
            kind, texts = (".sdf", SDFS) if k % 2 else (".xacro", XACROS)
            path = folder / f"file{kind}"
            path.write_bytes(damaged(rng.choice(texts), SDFS + XACROS, rng))
            start, watch.on, watch.seen = time.process_time(), True, []
            became = tried(path)
            watch.on, took = False, time.process_time() - start
            slowest = max(slowest, took)
            key = f"{kind[1:]} {became}" if became in ("model", "refused") else "finding"
            if key == "finding" or watch.seen or took > SLOWEST:
                findings += 1
                kept = Path(tempfile.gettempdir()) / f"kinetree-finding-{seed}-{k}{kind}"
                kept.write_bytes(path.read_bytes())
                print(f"{kept} ({took:.1f} s): {became} {watch.seen}", flush=True)
            counts[key] = counts.get(key, 0) + 1
            if (k + 1) % 5000 == 0:
                print(f"{k + 1}: {counts}, slowest {slowest:.2f} s", flush=True)
    print(f"{count} files: {counts}; {findings} findings; slowest {slowest:.2f} s")
    return findings


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.exit(1 if run(given.count, given.seed) else 0)
