"""Sources of the algorithms, as BibTeX; the rows of `kinetree.quantities` name theirs by key."""

from __future__ import annotations

from collections.abc import Iterable

SOURCES = {
    "liu2012": """@techreport{liu2012quick,
  author      = {Liu, C. Karen and Jain, Sumit},
  title       = {A Quick Tutorial on Multibody Dynamics},
  institution = {School of Interactive Computing, Georgia Institute of Technology},
  year        = {2012}
}""",
    "luh1980": """@article{luh1980online,
  author  = {Luh, J. Y. S. and Walker, M. W. and Paul, R. P. C.},
  title   = {On-Line Computational Scheme for Mechanical Manipulators},
  journal = {Journal of Dynamic Systems, Measurement, and Control},
  volume  = {102},
  number  = {2},
  pages   = {69--76},
  year    = {1980},
  doi     = {10.1115/1.3149599}
}""",
    "featherstone2008": """@book{featherstone2008rigid,
  author    = {Featherstone, Roy},
  title     = {Rigid Body Dynamics Algorithms},
  publisher = {Springer},
  year      = {2008},
  doi       = {10.1007/978-1-4899-7560-7}
}""",
    "balafoutis1991": """@book{balafoutis1991dynamic,
  author    = {Balafoutis, Constantinos A. and Patel, Rajnikant V.},
  title     = {Dynamic Analysis of Robot Manipulators: A Cartesian Tensor Approach},
  publisher = {Kluwer Academic Publishers},
  year      = {1991},
  doi       = {10.1007/978-1-4615-3952-0}
}""",
    "guenter2000": """@techreport{guenter2000derivations,
  author      = {Guenter, Brian and Rose, Charles F.},
  title       = {Derivations of the {Balafoutis} \\& {Patel} Recursive Dynamics Formulation},
  institution = {Microsoft Research},
  number      = {MSR-TR-2000-80},
  year        = {2000}
}""",
    "echeandia2021": """@article{echeandia2021numerical,
  author  = {Echeandia, Sebastian and Wensing, Patrick M.},
  title   = {Numerical Methods to Compute the {Coriolis} Matrix and {Christoffel} Symbols for
             Rigid-Body Systems},
  journal = {Journal of Computational and Nonlinear Dynamics},
  volume  = {16},
  number  = {9},
  year    = {2021},
  doi     = {10.1115/1.4051169}
}""",
    "carpentier2018": """@techreport{carpentier2018analytical,
  author      = {Carpentier, Justin},
  title       = {Analytical Inverse of the Joint Space Inertia Matrix},
  institution = {LAAS-CNRS},
  number      = {hal-01790934},
  year        = {2018}
}""",
    "carpentier2018derivatives": """@inproceedings{carpentier2018derivatives,
  author    = {Carpentier, Justin and Mansard, Nicolas},
  title     = {Analytical Derivatives of Rigid Body Dynamics Algorithms},
  booktitle = {Robotics: Science and Systems},
  year      = {2018},
  doi       = {10.15607/RSS.2018.XIV.038}
}""",
    "singh2022": """@article{singh2022efficient,
  author  = {Singh, Shubham and Russell, Ryan P. and Wensing, Patrick M.},
  title   = {Efficient Analytical Derivatives of Rigid-Body Dynamics Using Spatial Vector Algebra},
  journal = {IEEE Robotics and Automation Letters},
  volume  = {7},
  number  = {2},
  pages   = {1776--1783},
  year    = {2022},
  doi     = {10.1109/LRA.2022.3141194}
}""",
    "griewank2008": """@book{griewank2008evaluating,
  author    = {Griewank, Andreas and Walther, Andrea},
  title     = {Evaluating Derivatives: Principles and Techniques of Algorithmic Differentiation},
  publisher = {SIAM},
  edition   = {2},
  year      = {2008},
  doi       = {10.1137/1.9780898717761}
}""",
    "orin2013": """@article{orin2013centroidal,
  author  = {Orin, David E. and Goswami, Ambarish and Lee, Sung-Hee},
  title   = {Centroidal Dynamics of a Humanoid Robot},
  journal = {Autonomous Robots},
  volume  = {35},
  pages   = {161--176},
  year    = {2013},
  doi     = {10.1007/s10514-013-9341-4}
}""",
    "zhang": """@misc{zhang_lecture9,
  author       = {Zhang, Wei},
  title        = {Lecture 9: Dynamics of Open Chains},
  howpublished = {Lecture slides, CLEAR Lab, Southern University of Science and Technology},
  url          = {https://www.wzhanglab.site/}
}""",
    "lynch2017": """@book{lynch2017modern,
  author    = {Lynch, Kevin M. and Park, Frank C.},
  title     = {Modern Robotics: Mechanics, Planning, and Control},
  publisher = {Cambridge University Press},
  year      = {2017}
}""",
    "niemeyer1991": """@article{niemeyer1991performance,
  author  = {Niemeyer, G. and Slotine, J.-J. E.},
  title   = {Performance in Adaptive Manipulator Control},
  journal = {The International Journal of Robotics Research},
  volume  = {10},
  number  = {2},
  pages   = {149--161},
  year    = {1991}
}""",
    "deluca2003": """@inproceedings{deluca2003actuator,
  author    = {De Luca, Alessandro and Mattone, Raffaella},
  title     = {Actuator Failure Detection and Isolation Using Generalized Momenta},
  booktitle = {IEEE International Conference on Robotics and Automation},
  year      = {2003}
}""",
    "hairer2006": """@book{hairer2006geometric,
  author    = {Hairer, Ernst and Lubich, Christian and Wanner, Gerhard},
  title     = {Geometric Numerical Integration: Structure-Preserving Algorithms for Ordinary
               Differential Equations},
  publisher = {Springer},
  edition   = {2},
  year      = {2006},
  doi       = {10.1007/3-540-30666-8}
}""",
    "hairer1993": """@book{hairer1993solving,
  author    = {Hairer, Ernst and N{\\o}rsett, Syvert P. and Wanner, Gerhard},
  title     = {Solving Ordinary Differential Equations {I}: Nonstiff Problems},
  publisher = {Springer},
  edition   = {2},
  year      = {1993},
  doi       = {10.1007/978-3-540-78862-1}
}""",
    "todorov2014": """@inproceedings{todorov2014convex,
  author    = {Todorov, Emanuel},
  title     = {Convex and analytically-invertible dynamics with contacts and constraints: Theory
               and implementation in {MuJoCo}},
  booktitle = {IEEE International Conference on Robotics and Automation},
  pages     = {6054--6061},
  year      = {2014},
  doi       = {10.1109/ICRA.2014.6907751}
}""",
    "todorov2012": """@inproceedings{todorov2012mujoco,
  author    = {Todorov, Emanuel and Erez, Tom and Tassa, Yuval},
  title     = {{MuJoCo}: A Physics Engine for Model-Based Control},
  booktitle = {IEEE/RSJ International Conference on Intelligent Robots and Systems},
  year      = {2012},
  doi       = {10.1109/IROS.2012.6386109}
}""",
    "moser1991": """@article{moser1991discrete,
  author  = {Moser, J{\\"u}rgen and Veselov, Alexander P.},
  title   = {Discrete Versions of Some Classical Integrable Systems and Factorization of Matrix
             Polynomials},
  journal = {Communications in Mathematical Physics},
  volume  = {139},
  pages   = {217--243},
  year    = {1991},
  doi     = {10.1007/BF02352494}
}""",
    "marsden2001": """@article{marsden2001discrete,
  author  = {Marsden, Jerrold E. and West, Matthew},
  title   = {Discrete Mechanics and Variational Integrators},
  journal = {Acta Numerica},
  volume  = {10},
  pages   = {357--514},
  year    = {2001},
  doi     = {10.1017/S096249290100006X}
}""",
    "lee2016": """@misc{lee2016linear,
  author = {Lee, Jeongseok and Liu, C. Karen and Park, Frank C. and Srinivasa, Siddhartha S.},
  title  = {A Linear-Time Variational Integrator for Multibody Systems},
  year   = {2016},
  note   = {arXiv:1609.02898}
}""",
    "vanloan1978": """@article{vanloan1978computing,
  author  = {Van Loan, Charles F.},
  title   = {Computing Integrals Involving the Matrix Exponential},
  journal = {IEEE Transactions on Automatic Control},
  volume  = {23},
  number  = {3},
  pages   = {395--404},
  year    = {1978},
  doi     = {10.1109/TAC.1978.1101743}
}""",
    "khatib1987": """@article{khatib1987unified,
  author  = {Khatib, Oussama},
  title   = {A Unified Approach for Motion and Force Control of Robot Manipulators: The Operational
             Space Formulation},
  journal = {IEEE Journal on Robotics and Automation},
  volume  = {3},
  number  = {1},
  pages   = {43--53},
  year    = {1987},
  doi     = {10.1109/JRA.1987.1087068}
}""",
    "atkeson1986": """@article{atkeson1986estimation,
  author  = {Atkeson, Christopher G. and An, Chae H. and Hollerbach, John M.},
  title   = {Estimation of Inertial Parameters of Manipulator Loads and Links},
  journal = {The International Journal of Robotics Research},
  volume  = {5},
  number  = {3},
  year    = {1986}
}""",
    "gautier1988": """@inproceedings{gautier1988identification,
  author    = {Gautier, Maxime and Khalil, Wisama},
  title     = {On the Identification of the Inertial Parameters of Robots},
  booktitle = {IEEE Conference on Decision and Control},
  year      = {1988}
}""",
    "slotine1987": """@article{slotine1987adaptive,
  author  = {Slotine, Jean-Jacques E. and Li, Weiping},
  title   = {On the Adaptive Control of Robot Manipulators},
  journal = {The International Journal of Robotics Research},
  volume  = {6},
  number  = {3},
  year    = {1987},
  doi     = {10.1177/027836498700600303}
}""",
    "carpentier2021": """@inproceedings{carpentier2021proximal,
  author    = {Carpentier, Justin and Budhiraja, Rohan and Mansard, Nicolas},
  title     = {Proximal and Sparse Resolution of Constrained Dynamic Equations},
  booktitle = {Robotics: Science and Systems},
  year      = {2021},
  doi       = {10.15607/RSS.2021.XVII.017}
}""",
    "levenberg1944": """@article{levenberg1944method,
  author  = {Levenberg, Kenneth},
  title   = {A Method for the Solution of Certain Non-Linear Problems in Least Squares},
  journal = {Quarterly of Applied Mathematics},
  volume  = {2},
  number  = {2},
  year    = {1944},
  doi     = {10.1090/qam/10666}
}""",
    "aghili2005": """@article{aghili2005unified,
  author  = {Aghili, Farhad},
  title   = {A Unified Approach for Inverse and Direct Dynamics of Constrained Multibody Systems
             Based on Linear Projection Operator},
  journal = {IEEE Transactions on Robotics},
  volume  = {21},
  number  = {5},
  year    = {2005},
  doi     = {10.1109/TRO.2005.851380}
}""",
    "mistry2010": """@inproceedings{mistry2010inverse,
  author    = {Mistry, Michael and Buchli, Jonas and Schaal, Stefan},
  title     = {Inverse Dynamics Control of Floating Base Systems Using Orthogonal Decomposition},
  booktitle = {IEEE International Conference on Robotics and Automation},
  year      = {2010},
  doi       = {10.1109/ROBOT.2010.5509646}
}""",
}

# groups, for the rows of `kinetree.quantities`
TUTORIAL = ("liu2012",)
LECTURE = ("zhang",)
RIGID_MOTIONS = ("liu2012", "lynch2017")
BOOK = ("featherstone2008",)
CORIOLIS = ("echeandia2021",)
CENTROIDAL = ("orin2013",)
ANALYTIC = ("carpentier2018derivatives", "singh2022")
DIFFERENTIATED = ("griewank2008",)
NEWTON_EULER = ("zhang", "luh1980", "featherstone2008")
TENSORS = ("balafoutis1991", "guenter2000")
REPORT = ("guenter2000",)
GEOMETRIC = ("hairer2006",)
CLASSICAL = ("hairer1993",)
HOLD = ("vanloan1978",)
OPERATIONAL_SPACE = ("khatib1987", "featherstone2008")
MUJOCO = ("todorov2012",)
SOFT = ("todorov2014", "todorov2012")
REGRESSORS = ("atkeson1986",)
ENERGY_MODEL = ("gautier1988",)
ADAPTIVE = ("slotine1987", "echeandia2021")
PROXIMAL = ("carpentier2021", "featherstone2008")
AGHILI = ("aghili2005", "carpentier2021")
LEVENBERG = ("levenberg1944",)
MISTRY = ("mistry2010",)
DISCRETE = ("moser1991", "marsden2001", "lee2016")


def bibtex(sources: Iterable[str]) -> str:
    """Sources by their keys, as BibTeX."""
    return "\n\n".join(SOURCES[key] for key in sources)
