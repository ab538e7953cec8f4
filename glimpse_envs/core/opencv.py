"""OpenCV, imported where it is first needed, since it takes a while.

    from glimpse_envs.core.opencv import cv2

Raises:
    ImportError: it cannot be loaded; the message says what to install.
"""

try:
    import cv2
except ImportError as error:
    raise ImportError(
        f"OpenCV cannot be loaded: {str(error).strip()}. Where cv2 is not found: pip install "
        "opencv-python. Where a system library is missing, as on machines without a display: "
        "apt-get install libgl1 libglib2.0-0 (Debian's names); or, for OpenCV without windows: "
        "pip uninstall -y opencv-python && pip install opencv-python-headless, and again after "
        "each later install, which brings opencv-python back"
    ) from error

__all__ = ["cv2"]
