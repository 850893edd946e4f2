"""Robots in other tools: environments for learning, rigid bodies in Bullet."""
