// Fields in colours, side by side over the same axes.

class MapsFigure {
  constructor(spec, page) {
    Object.assign(this, { spec, page, zoomed: null, images: new Map() });
    this.moving = spec.frames !== null;
  }

  ends() {
    return [this.spec.x, this.spec.y].map(({ nodes }) => [nodes[0], nodes[nodes.length - 1]]);
  }

  draw(width) {
    const { panels } = this.spec;
    const abreast = Math.min(panels.length, width > 820 ? 3 : width > 520 ? 2 : 1);
    const across = width / Math.max(abreast, 2);
    const side = Math.min(across, 460) - 136;
    const [xs, ys] = this.ends();
    // Lengths are equal along both axes unless one is time, or the picture would be a strip.
    const ratio = (ys[1] - ys[0]) / (xs[1] - xs[0]);
    const tall = this.spec.square && ratio > 0.4 && ratio < 2 ? side * ratio : 0.92 * side;
    const down = tall + 84;
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${down * Math.ceil(panels.length / abreast)}`);
    svg.setAttribute("font-family", FONT);
    this.parts = panels.map((panel, i) => {
      const area = { left: (i % abreast) * across + 52, top: Math.floor(i / abreast) * down + 28, width: side, height: tall };
      return this.drawPanel(svg, panel, area);
    });
    return svg;
  }

  drawPanel(svg, panel, area) {
    const [xs, ys] = this.zoomed ?? this.ends();
    const x = new Scale(xs, [area.left, area.left + area.width]);
    const y = new Scale(ys, [area.top + area.height, area.top]);
    const clip = addClip(svg, area);
    this.drawImage(clip, panel, x, y);
    addAxes(svg, area, x, y, [this.spec.x.name, this.spec.y.name], false, 40);
    addText(svg, area.left, area.top - 10, panel.title, { "font-size": 12.5 });
    this.drawBar(svg, panel, area);
    const part = { area, x, y, panel, cross: add(svg, "g", { class: "cross" }) };
    makeLive(svg, part, this);
    return part;
  }

  // A node is the middle of a pixel, so the image is half a pixel larger on every side.
  drawImage(parent, panel, x, y) {
    const { nodes: across } = this.spec.x;
    const { nodes: up } = this.spec.y;
    const half = (nodes) => (nodes[nodes.length - 1] - nodes[0]) / (nodes.length - 1) / 2;
    const [dx, dy] = [half(across), half(up)];
    const left = x.at(across[0] - dx);
    const top = y.at(up[up.length - 1] + dy);
    add(parent, "image", {
      href: this.image(panel),
      x: left,
      y: top,
      width: x.at(across[across.length - 1] + dx) - left,
      height: y.at(up[0] - dy) - top,
      preserveAspectRatio: "none",
    });
  }

  image(panel) {
    const key = `${panel.array} ${panel.colours} ${panel.lo} ${panel.hi} ${this.page.frame(this.spec.frames)}`;
    if (!this.images.has(key)) this.images.set(key, this.painted(panel));
    return this.images.get(key);
  }

  painted(panel) {
    const [width, height] = [this.spec.x.nodes.length, this.spec.y.nodes.length];
    const values = this.values(panel);
    const table = this.page.colours[panel.colours];
    const span = panel.hi - panel.lo || 1;
    return imageOf(width, height, (column, row) => {
      const value = values[(height - 1 - row) * width + column];
      const level = Math.round(255 * Math.min(Math.max((value - panel.lo) / span, 0), 1));
      return Number.isNaN(value) ? null : table.subarray(3 * level, 3 * level + 3);
    });
  }

  // The present frame of an array.
  values(panel) {
    const { values } = this.page.array(panel.array);
    const size = this.spec.x.nodes.length * this.spec.y.nodes.length;
    const first = this.page.frame(this.spec.frames) * size;
    return values.subarray(first, first + size);
  }

  drawBar(svg, panel, { left, top, width, height }) {
    const x = left + width + 12;
    const table = this.page.colours[panel.colours];
    const href = imageOf(1, 256, (_, row) => table.subarray(3 * (255 - row), 3 * (256 - row)));
    add(svg, "image", { href, x, y: top, width: 10, height, preserveAspectRatio: "none" });
    const scale = new Scale(panel.lo < panel.hi ? [panel.lo, panel.hi] : [panel.lo - 1, panel.lo + 1], [top + height, top]);
    for (const tick of scale.ticks(34)) {
      add(svg, "path", { d: `M${x + 10} ${scale.at(tick)}h3`, stroke: "var(--soft)" });
      addText(svg, x + 16, scale.at(tick) + 4, shown(tick, 3), { fill: "var(--soft)", "font-size": 11 });
    }
  }

  hover(at, part) {
    this.parts.forEach(({ cross }) => cross.replaceChildren());
    if (!at) return this.say("");
    const [column, row] = [nearest(this.spec.x.nodes, part.x.back(at[0])), nearest(this.spec.y.nodes, part.y.back(at[1]))];
    const [px, py] = [this.spec.x.nodes[column], this.spec.y.nodes[row]];
    for (const { area, x, y, cross } of this.parts) {
      const d = `M${x.at(px)} ${area.top}v${area.height}M${area.left} ${y.at(py)}h${area.width}`;
      add(cross, "path", { d, stroke: "var(--paper)", "stroke-width": 0.8, fill: "none", "stroke-opacity": 0.8 });
    }
    const values = this.spec.panels.map((panel) => {
      return `${panel.title} ${shown(this.values(panel)[row * this.spec.x.nodes.length + column])}`;
    });
    this.say(`${this.spec.x.name} ${shown(px)}, ${this.spec.y.name} ${shown(py)}: ${values.join("; ")}`);
  }
}

// An image as a data URI; `colour` gives three bytes for a pixel, or nothing for a hole.
function imageOf(width, height, colour) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const bytes = colour(column, row);
      if (bytes) image.data.set([bytes[0], bytes[1], bytes[2], 255], 4 * (row * width + column));
    }
  }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}
