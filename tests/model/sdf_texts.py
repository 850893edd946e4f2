"""SDF documents that have every element between them."""

INERTIAL = """<inertial><pose>0.1 0.02 -0.03 0.3 0.2 0.1</pose><mass>{}</mass><inertia>
<ixx>0.02</ixx><iyy>0.03</iyy><izz>0.025</izz><ixy>0.001</ixy><ixz>-0.002</ixz><iyz>0.0015</iyz>
</inertia></inertial>"""


def link(name, pose="", mass=1.0, more=""):
    """A link with an inertia; the pose is an element."""
    return f"<link name='{name}'>{pose}{INERTIAL.format(mass)}{more}</link>"


def sdf(content, version="1.9"):
    return f"<sdf version='{version}' xmlns:drake='http://drake.mit.edu'>{content}</sdf>"


CHAIN = f"""<model name="chain"><pose>0.1 0.2 0.3 0.1 -0.2 0.4</pose>
{link("base", "<pose>0.2 0 0.1 0.3 0 0.1</pose>")}
{link("upper", "<pose relative_to='shoulder'>0.1 0 0.2 0 0.4 0</pose>", 2.0)}
{link("lower", "<pose relative_to='upper' degrees='true'>0 0.3 0 20 0 10</pose>")}
{link("hand", "<pose rotation_format='quat_xyzw'>0.3 0.4 1 0.1 0.3 -0.3 0.9</pose>", 0.5)}
<joint name="ground" type="fixed"><parent>world</parent><child>base</child></joint>
<joint name="shoulder" type="revolute"><pose relative_to="base">0 0.1 0.2 0 0 0.3</pose>
  <parent>base</parent><child>upper</child>
  <axis><xyz expressed_in="__model__">0.2 1 0.3</xyz>
  <limit><lower>-1</lower><upper>2</upper><effort>40</effort><velocity>3</velocity></limit>
  <dynamics><damping>0.7</damping><spring_stiffness>3</spring_stiffness>
  <spring_reference>0.2</spring_reference></dynamics></axis></joint>
<joint name="elbow" type="prismatic"><pose>0.1 0 0 0.2 0.1 0</pose>
  <parent>upper</parent><child>lower</child>
  <axis><xyz expressed_in="marker">0 1 0.5</xyz><dynamics><damping>0.3</damping></dynamics></axis>
  <drake:rotor_inertia>0.001</drake:rotor_inertia><drake:gear_ratio>20</drake:gear_ratio></joint>
<joint name="wrist" type="screw"><parent>tool</parent><child>hand</child>
  <axis><xyz>0 0.6 0.8</xyz></axis><screw_thread_pitch>0.3</screw_thread_pitch></joint>
<frame name="tool" attached_to="lower"><pose>0.1 0.2 0 0 0 1</pose></frame>
<frame name="marker" attached_to="tool"><pose relative_to="upper">0 0 0.2 0.5 0 0</pose></frame>
</model>"""

MANY_AXES = f"""<model name="axes">
{link("base")}{link("fork", "<pose>0 0 1 0.1 0.2 0.3</pose>")}
{link("wheel", "<pose>0 0.5 1 0 0 0.4</pose>")}{link("ball", "<pose>0.4 0 1 0.2 0 0</pose>")}
<joint name="mount" type="fixed"><parent>world</parent><child>base</child></joint>
<joint name="cardan" type="universal"><pose>0.1 0 0 0 0.2 0</pose>
  <parent>base</parent><child>fork</child>
  <axis><xyz>1 0 0</xyz><dynamics><damping>0.1</damping></dynamics></axis>
  <axis2><xyz>0 1 0</xyz><limit><lower>-0.5</lower><upper>0.5</upper></limit>
  <dynamics><damping>0.1</damping></dynamics></axis2></joint>
<joint name="spin" type="continuous"><parent>fork</parent><child>wheel</child>
  <axis><xyz>0 1 0</xyz></axis></joint>
<joint name="hip" type="ball"><pose>0.1 0.1 0 0 0 0</pose>
  <parent>fork</parent><child>ball</child></joint></model>"""

NESTED = f"""<model name="outer" canonical_link="inner::a">
<frame name="shelf"><pose>0 0 0.5 0.2 0.1 0</pose></frame>
<model name="inner" placement_frame="grip"><pose relative_to="shelf">0.3 0 0.2 0 0.3 0</pose>
  {link("a")}{link("b", "<pose relative_to='a'>0.2 0.1 0 0.3 0 0</pose>")}
  <frame name="grip" attached_to="b"><pose>0 0.1 0 0 0.2 0.1</pose></frame>
  <joint name="j" type="revolute"><parent>a</parent><child>b</child>
  <axis><xyz expressed_in="__model__">0 0.6 0.8</xyz></axis></joint>
  <model name="deep"><pose relative_to="b">0.1 0 0 0.1 0 0</pose>{link("c")}</model>
  <joint name="k" type="prismatic"><parent>b</parent><child>deep::c</child>
  <axis><xyz>1 0 0</xyz></axis></joint>
</model>
{link("plate", "<pose relative_to='inner::deep::c'>0.1 0 0.2 0 0 0.3</pose>")}
<joint name="hold" type="fixed"><parent>world</parent><child>inner::a</child></joint>
<joint name="top" type="revolute"><parent>inner::deep::c</parent><child>plate</child>
<axis><xyz expressed_in="shelf">0 0 1</xyz></axis></joint></model>"""

OLD = f"""<model name="old">{link("a", "<pose>0 0 1 0 0.3 0</pose>")}
{link("b", "<pose>0.3 0 1.2 0.4 0 0.2</pose>")}{link("c", "<pose>0.5 0.1 1 0 0 1</pose>")}
<joint name="w" type="fixed"><parent>world</parent><child>a</child></joint>
<joint name="i" type="revolute"><parent>a</parent><child>b</child>
<axis><xyz>0 1 0.2</xyz>USE</axis></joint>
<joint name="j" type="revolute"><pose>0 0 0.1 0 0 0</pose><parent>b</parent><child>c</child>
<axis><xyz>1 0 0.3</xyz></axis></joint></model>"""
OLD_MODEL_FRAME = OLD.replace("USE", "<use_parent_model_frame>1</use_parent_model_frame>")

WORLD = f"""<world name="room"><gravity>0 1 -8</gravity>
<model name="ground"><static>true</static><link name="floor"><collision name="c">
<geometry><plane><normal>0 0 1</normal></plane></geometry></collision></link></model>
<model name="one"><pose>1 0 1 0 0 0</pose>{link("body")}{link("arm", "<pose>0 0 0.5 0 0 0</pose>")}
<joint name="j" type="revolute"><parent>body</parent><child>arm</child>
<axis><xyz>0 1 0</xyz></axis></joint></model>
<model name="two">{link("body")}</model></world>"""

DOCUMENTS = {
    "a chain": sdf(CHAIN),
    "joints of several axes": sdf(MANY_AXES),
    "nested models": sdf(NESTED),
    "a model of SDF 1.6": sdf(OLD.replace("USE", ""), "1.6"),
    "axes in the model's frame": sdf(OLD_MODEL_FRAME, "1.6"),
    "a model of SDF 1.4": sdf(OLD.replace("USE", ""), "1.4"),
    "a world": sdf(WORLD),
}
