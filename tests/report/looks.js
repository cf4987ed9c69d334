// SPDX-License-Identifier: Apache-2.0
// Looked up by the tests of the report: what can be measured of how a page looks.
"use strict";
window.looks = {
  // Texts whose contrast with the colour behind them is below 4.5 (WCAG 2.1, 1.4.3).
  faint() {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const known = new Map();
    const rgba = (words) => {
      if (!known.has(words)) known.set(words, painted(words));
      return known.get(words);
    };
    const painted = (words) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = words;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = ([r, g, b]) => {
      const part = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
      return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    };
    const ground = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const found = rgba(getComputedStyle(at).backgroundColor);
        if (found[3] === 255) return found;
      }
      return [255, 255, 255, 255];
    };
    const found = [];
    let looked = 0;
    for (const element of document.body.querySelectorAll("*")) {
      const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
      if (!own || ["SCRIPT", "STYLE", "title", "desc"].includes(element.tagName)) continue;
      const style = getComputedStyle(element);
      const ink = rgba(element instanceof SVGElement ? style.fill : style.color);
      const [a, b] = [light(ink), light(ground(element))].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      looked += 1;
      if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${element.tagName} ${element.textContent.slice(0, 30)}`);
    }
    return { looked, found };
  },
  // Texts of one plot that touch each other or leave the plot.
  collisions() {
    const found = [];
    let looked = 0;
    for (const plot of document.querySelectorAll("svg.plot")) {
      const frame = plot.getBoundingClientRect();
      const name = plot.closest("figure").id;
      const texts = [...plot.querySelectorAll("text")].map((t) => [t.textContent, t.getBoundingClientRect()]);
      looked += texts.length;
      texts.forEach(([words, box], index) => {
        if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1 || box.top < frame.top - 1)
          found.push(`${name}: "${words}" leaves the plot`);
        for (const [other, there] of texts.slice(index + 1))
          if (box.left < there.right - 1 && there.left < box.right - 1 && box.top < there.bottom - 3 && there.top < box.bottom - 3)
            found.push(`${name}: "${words}" touches "${other}"`);
      });
    }
    return { looked, found };
  },
  visible(selector) {
    return [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility() && e.getBoundingClientRect().height > 0).length;
  },
};
