"""xacro: the same documents as the package xacro makes, and nothing that a file may not do."""

import time
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import FileFormatError
from kinetree.model.formats.packages import Finder
from kinetree.model.formats.xacro import expanded
from kinetree.model.formats.xml import parse

NAMESPACE = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
FILES = {
    "robot.xacro": f"""<robot {NAMESPACE} name="r">
<xacro:property name="w" value="0.3"/><xacro:property name="half" value="${{w/2}}"/>
<xacro:property name="names" value="${{['a','b']}}"/>
<xacro:property name="d" value="${{dict(x=1, y=[1,2,3])}}"/>
<xacro:arg name="prefix" default="left_"/><xacro:property name="prefix" value="$(arg prefix)"/>
<xacro:property name="block"><origin xyz="${{half}} 0 ${{sin(pi/6)}}"/></xacro:property>
<xacro:macro name="leg" params="name parent:=base *origin m:=^|${{w*2}} **extra text:='a b'">
  <link name="${{prefix}}${{name}}"><inertial><mass value="${{m}}"/>
  <xacro:insert_block name="origin"/></inertial><xacro:insert_block name="extra"/></link>
  <joint name="${{prefix}}${{name}}_j" type="revolute"><parent link="${{parent}}"/>
  <child link="${{prefix}}${{name}}"/>
  <xacro:if value="${{name == 'a'}}"><axis xyz="0 0 1"/></xacro:if>
  <xacro:unless value="${{name == 'a'}}"><axis xyz="1 0 0"/></xacro:unless>
  <limit lower="${{-pi}}" upper="${{radians(90)}}" effort="${{round(1.23456,2)}}"
  velocity="${{max(1,2)}}" note="${{text}}"/></joint>
  <xacro:property name="last" value="${{name}}" scope="parent"/>
</xacro:macro>
<link name="base" note="$${{x}} ${{d['y'][1]}} ${{names[0]}} ${{len(names)}}
 ${{1 if w > 0.2 else 2}} $(eval 1+2) ${{names[-1].upper()}} ${{' '.join(names)}}
 ${{str(w) + 'm'}} ${{not w and 3 or 4}}"/>
<xacro:leg name="a"><origin xyz="0 0 ${{w}}"/><visual><foo/><bar a="${{w}}"/></visual></xacro:leg>
<xacro:leg name="b" parent="${{prefix}}a" m="3"><xacro:insert_block name="block"/><collision/>
</xacro:leg>
<xacro:call macro="leg" name="c"><origin/><e/></xacro:call>
<sum v="${{python.sum([x*x for x in [1,2,3]])}} ${{last}} ${{2**0.5}} ${{7//2}} ${{True}}
 ${{1e-3}}"/>
<xacro:element xacro:name="made${{1+1}}"><xacro:attribute name="k" value="a${{w+1}}"/>
</xacro:element>
<xacro:property name="x" value="1"/><xacro:property name="x" default="2"/><v x="${{x}}"/>
<xacro:include filename="more/included.xacro"/><xacro:include filename="space.xacro" ns="sp"/>
<y z="${{sp.inner}} ${{yaml['k']['l'][1]}} ${{yaml.k.angle}}"/><xacro:sp.mm q="5"/>
</robot>""",
    "more/included.xacro": f"""<robot {NAMESPACE}><xacro:property name="yaml"
value="${{xacro.load_yaml('values.yaml')}}"/><included a="${{w}}"/>
<xacro:include filename="deeper.xacro"/></robot>""",
    "more/deeper.xacro": f"""<robot {NAMESPACE}><deep b="${{yaml['k']['l'][0]}}"/></robot>""",
    "more/values.yaml": "k: {l: [1, 2.5], angle: !degrees 90}",
    "space.xacro": f"""<robot {NAMESPACE}><xacro:property name="inner" value="${{w*10}}"/>
<xacro:macro name="mm" params="q"><mm q="${{q}} ${{inner}}"/></xacro:macro></robot>""",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "more").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def plain(element):
    return element.tag, element.attributes, [plain(child) for child in element.children]


def expand(path, arguments=None):
    return plain(
        expanded(parse(path.read_bytes(), str(path)), Finder(path.parent), arguments or {})
    )


def theirs(node):
    inside = [theirs(child) for child in node.childNodes if child.nodeType == 1]
    return node.tagName, dict(node.attributes.items()), inside


@pytest.mark.parametrize("arguments", [{}, {"prefix": "right_"}])
@pytest.mark.filterwarnings("ignore")
def test_a_document_is_what_the_package_makes_of_it(folder, arguments):
    xacro = pytest.importorskip("xacro")
    pytest.importorskip("yaml")
    path = folder / "robot.xacro"
    document = xacro.process_file(str(path), mappings=dict(arguments))
    assert expand(path, arguments) == theirs(document.documentElement)


ARM = f"""<robot {NAMESPACE} name="arm"><xacro:arg name="count" default="2"/>
<xacro:macro name="part" params="n"><xacro:if value="${{n > 0}}"><link name="l${{n}}"><inertial>
<mass value="${{n * 0.5}}"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="j${{n}}" type="revolute"><parent link="l${{n - 1}}"/><child link="l${{n}}"/>
<limit effort="1" velocity="1"/></joint><xacro:part n="${{n - 1}}"/></xacro:if></xacro:macro>
<link name="l0"/><xacro:part n="${{int(xacro.arg('count'))}}"/></robot>"""


def test_a_robot_is_loaded_from_xacro_with_arguments(tmp_path):
    (tmp_path / "arm.urdf.xacro").write_text(ARM)
    assert kt.load(tmp_path / "arm.urdf.xacro").nv == 2
    robot = kt.load(ARM, arguments={"count": 5})
    assert robot.nv == 5
    assert float(robot.model.bodies[-1].inertia.mass) == 2.5


def test_packages_are_found_and_their_meshes_too(tmp_path):
    parts = tmp_path / "parts"
    (parts / "urdf").mkdir(parents=True)
    (parts / "urdf" / "link.xacro").write_text(
        f"""<robot {NAMESPACE}><link name="a"><visual><geometry>
        <mesh filename="file://$(find parts)/a.stl"/></geometry></visual></link></robot>"""
    )
    (parts / "a.stl").write_text("x")
    (tmp_path / "home").mkdir()
    text = f"""<robot {NAMESPACE} name="r"><xacro:include filename="$(find parts)/urdf/link.xacro"/>
    </robot>"""
    (tmp_path / "home" / "r.xacro").write_text(text)
    with pytest.raises(FileFormatError, match=r"\$\(find parts\).*packages= of kinetree.load"):
        kt.load(tmp_path / "home" / "r.xacro")
    (shape,) = kt.load(tmp_path / "home" / "r.xacro", packages={"parts": parts}).model.shapes
    assert Path(shape.folder) == parts.resolve()


def attribute(expression):
    return f"""<robot {NAMESPACE}><a b="${{{expression}}}"/></robot>"""


FORBIDDEN = {
    "a module": "__import__('os')",
    "a hidden attribute": "[f.__globals__ for f in [xacro.load_yaml]][0]",
    "a lambda": "(lambda f: f)(1)",
    "a class": "().__class__",
    "a class of a text": "''.format",
    "a type": "type(1)",
    "an assignment": "(x := 1)",
    "an unknown name": "nothing",
    "a large power": "9**9**9",
    "a long text": "'a' * 10**9",
    "a long list": "[[0] * 20000 for i in range(20000)]",
    "a long format": "'%1000000000d' % 1",
    "many digits": "round(5, -1000000000)",
    "a long join": "'a'.join(['b' * 20000] * 20000)",
    "a long sum": "sum([[0] * 1000] * 1000, [])",
    "deep brackets": "(" * 500 + "1" + ")" * 500,
    "many signs": "-" * 3900 + "1",
    "another file": "xacro.load_yaml('/etc/hostname')",
    "division by zero": "1 / 0",
    "an overflow": "exp(1000)",
}


@pytest.mark.parametrize("expression", FORBIDDEN.values(), ids=FORBIDDEN)
def test_an_expression_does_nothing_but_compute(expression):
    start = time.process_time()
    with pytest.raises(FileFormatError, match=r"<string>:1: <a>: "):
        kt.load(attribute(expression))
    assert time.process_time() - start < 30


BAD = {
    "an unknown macro": ("<xacro:foo/>", "there is no macro 'foo'"),
    "a missing parameter": ("<xacro:m/>", "'p' of the macro is missing"),
    "an unknown parameter": ('<xacro:m p="1" q="2"/>', "no parameter 'q'; it has p"),
    "a missing block": ('<xacro:b p="1"/>', "needs a block"),
    "too many blocks": ('<xacro:m p="1"><a/></xacro:m>', "takes no block <a>"),
    "a macro of itself": ("<xacro:r/>", "nested more than"),
    "a condition": ('<xacro:if value="maybe"/>', "true or false is expected"),
    "a missing file": ('<xacro:include filename="gone.xacro"/>', "no such file"),
    "a file outside": ('<xacro:include filename="/etc/passwd"/>', "no such file"),
    "an environment variable": ('<a b="$(env HOME)"/>', "environment variables are not read"),
    "an argument": ('<a b="$(arg x)"/>', "arguments= of kinetree.load"),
    "an unknown command": ('<a b="$(run x)"/>', "is not known; known are eval, find"),
    "an open brace": ('<a b="${x"/>', "has no end"),
    "a circle": (
        '<xacro:property name="y" value="${z}"/><xacro:property name="z" value="${y}"/>'
        '<a b="${y}"/>',
        "defined by itself",
    ),
    "a bad name": ('<xacro:property name="a-b" value="1"/>', "cannot be the name"),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_a_bad_document_is_refused_with_its_line(case):
    text, message = case
    macros = """<xacro:macro name="m" params="p"/><xacro:macro name="b" params="p *block"/>
    <xacro:macro name="r"><xacro:r/></xacro:macro>"""
    with pytest.raises(FileFormatError, match=rf"<string>:\d+: .*{message}".replace("$", r"\$")):
        kt.load(f"<robot {NAMESPACE} name='r'>{macros}\n{text}<link name='l'/></robot>")


def test_macros_that_double_at_each_level_end():
    levels = "".join(
        f'<xacro:macro name="m{k}"><xacro:m{k + 1}/><xacro:m{k + 1}/></xacro:macro>'
        for k in range(40)
    )
    text = (
        f"<robot {NAMESPACE}>{levels}<xacro:macro name='m40'><a/></xacro:macro><xacro:m0/></robot>"
    )
    with pytest.raises(FileFormatError, match="more than 50000 elements"):
        kt.load(text)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "secret.xacro").write_text("<robot><link name='secret'/></robot>")
    home = tmp_path / "home"
    home.mkdir()
    (home / "link.xacro").symlink_to(tmp_path / "secret.xacro")
    for name in ("link.xacro", "../secret.xacro", "../*.xacro", "../sec[r]et.xacro"):
        include = f"<xacro:include filename='{name}'/>"
        (home / "r.xacro").write_text(f"<robot {NAMESPACE}>{include}<link name='a'/></robot>")
        if "*" in name or "[" in name:  # which may mean no file
            assert kt.load(home / "r.xacro").frames == ("a",)
            continue
        with pytest.raises(FileFormatError, match="no such file"):
            kt.load(home / "r.xacro")


def test_yaml_that_grows_or_merges_is_refused(tmp_path):
    pytest.importorskip("yaml")
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 10)]
    (tmp_path / "b.yaml").write_text("\n".join(lines))
    (tmp_path / "m.yaml").write_text("a: &a {x: 1}\nb: {<<: *a}")
    for name in ("b.yaml", "m.yaml"):
        (tmp_path / "r.xacro").write_text(attribute(f"len(load_yaml('{name}'))"))
        with pytest.raises(FileFormatError, match=r"entries|merges"):
            kt.load(tmp_path / "r.xacro")


def test_numbers_are_pythons(tmp_path):
    robot = kt.load(ARM.replace("${n * 0.5}", "${(n + 0.1) * 3 / 7}"))
    assert float(robot.model.bodies[0].inertia.mass) == np.float64((1 + 0.1) * 3 / 7)
