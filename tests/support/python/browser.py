# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium for tests of pages, driven by Selenium and the system's chromedriver."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def missing() -> str:
    """What lacks for a browser; empty where everything is there."""
    programs = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"{' and '.join(programs)} not found" if programs else ""


class Browser:
    """One page at a time."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def show(self, page: Path, *, width: int = 1200, dark: bool = False, media: str = "") -> None:
        """Loads a file as a screen of this width shows it."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._devtools("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self._devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        self.driver.get(page.resolve().as_uri())

    def run(self, script: str, *values: Any) -> Any:
        """What the body of a function returns."""
        return self.driver.execute_script(script, *values)

    def console(self) -> list[str]:
        """What the page has complained about since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def pdf(self) -> bytes:
        found = self._devtools("Page.printToPDF", printBackground=True, paperWidth=8.27,
                               paperHeight=11.69)  # fmt: skip
        return base64.b64decode(found["data"])

    def screenshot(self, file: Path, *, selector: str = "html") -> None:
        """The whole page, or one element of it."""
        box = self.run(
            "const r = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [r.x + scrollX, r.y + scrollY, r.width, r.height]", selector
        )  # fmt: skip
        clip = dict(zip(("x", "y", "width", "height"), box, strict=True)) | {"scale": 1}
        found = self._devtools("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(found["data"]))

    def _devtools(self, command: str, **values: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, json.loads(json.dumps(values)))


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser that lives in the folder `profile` and asks nothing of the network."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for word in ("--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update",
                 f"--user-data-dir={profile}"):  # fmt: skip
        options.add_argument(word)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        driver.set_page_load_timeout(60)
        yield Browser(driver)
    finally:
        driver.quit()
