"""Frames, films and windows, drawn from plain data that does not depend on an environment."""

from glimpse_envs.rendering.contact_sheet import contact_sheet, draw_scanpath
from glimpse_envs.rendering.film import write_film, write_png
from glimpse_envs.rendering.frame import draw_frame, light_up
from glimpse_envs.rendering.picture import Picture
from glimpse_envs.rendering.seen import Seen
from glimpse_envs.rendering.tape_picture import Strip, TablePicture, TapePicture
from glimpse_envs.rendering.verdict import AnyPicture
from glimpse_envs.rendering.window import Window

__all__ = [
    "AnyPicture",
    "Picture",
    "Seen",
    "Strip",
    "TablePicture",
    "TapePicture",
    "Window",
    "contact_sheet",
    "draw_frame",
    "draw_scanpath",
    "light_up",
    "write_film",
    "write_png",
]
