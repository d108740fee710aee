// What all figures share: SVG, axes, zooming, saving.

const SVG = "http://www.w3.org/2000/svg";
const FONT = "Helvetica, Arial, sans-serif";
// Colours of figures on paper; in the page they are variables of the style.
const ON_PAPER = { paper: "#ffffff", ink: "#1d2129", soft: "#5c6470", faint: "#e3e6ea", grid: "#eceef1" };

let lastId = 0;
const freshId = () => `id${(lastId += 1)}`;

function add(parent, name, attributes = {}, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

function addText(parent, x, y, text, attributes = {}) {
  return add(parent, "text", { x, y, "font-size": 12, fill: "var(--ink)", ...attributes }, text);
}

// From numbers to pixels along one side, and back.
class Scale {
  constructor([lo, hi], [from, to], logarithmic = false) {
    Object.assign(this, { lo, hi, from, to, logarithmic });
  }

  share(value) {
    return this.logarithmic ? Math.log(value / this.lo) / Math.log(this.hi / this.lo) : (value - this.lo) / (this.hi - this.lo);
  }

  at(value) {
    return this.from + this.share(value) * (this.to - this.from);
  }

  back(pixel) {
    const share = (pixel - this.from) / (this.to - this.from);
    return this.logarithmic ? this.lo * (this.hi / this.lo) ** share : this.lo + share * (this.hi - this.lo);
  }

  ticks(spacing) {
    const wanted = Math.max(2, Math.round(Math.abs(this.to - this.from) / spacing));
    return this.logarithmic ? logarithmicNumbers(this.lo, this.hi, wanted) : roundNumbers(this.lo, this.hi, wanted);
  }
}

// A rectangle with axes, ticks and names.
function addAxes(svg, area, x, y, names, grid, aside = 54) {
  const { left, top, width, height } = area;
  const bottom = top + height;
  // There is no half of a step.
  const fits = (tick) => names[0] !== "step" || Number.isInteger(tick);
  for (const tick of x.ticks(Math.min(80, width / 4)).filter(fits)) {
    const at = x.at(tick);
    if (grid) add(svg, "path", { d: `M${at} ${top}V${bottom}`, stroke: "var(--grid)" });
    add(svg, "path", { d: `M${at} ${bottom}v4`, stroke: "var(--soft)" });
    addText(svg, at, bottom + 17, shown(tick), { "text-anchor": "middle", fill: "var(--soft)", "font-size": 11 });
  }
  for (const tick of y.ticks(44)) {
    const at = y.at(tick);
    if (grid) add(svg, "path", { d: `M${left} ${at}H${left + width}`, stroke: "var(--grid)" });
    add(svg, "path", { d: `M${left} ${at}h-4`, stroke: "var(--soft)" });
    addText(svg, left - 8, at + 4, shown(tick), { "text-anchor": "end", fill: "var(--soft)", "font-size": 11 });
  }
  add(svg, "rect", { x: left, y: top, width, height, fill: "none", stroke: "var(--soft)", "stroke-width": 0.8 });
  addText(svg, left + width / 2, bottom + 34, names[0], { "text-anchor": "middle" });
  const [cx, cy] = [left - aside, top + height / 2];
  addText(svg, cx, cy, names[1], { "text-anchor": "middle", transform: `rotate(-90 ${cx} ${cy})` });
}

// Where drawing is confined to the rectangle.
function addClip(svg, { left, top, width, height }) {
  const id = freshId();
  const clip = add(svg, "clipPath", { id });
  add(clip, "rect", { x: left, y: top, width, height });
  return add(svg, "g", { "clip-path": `url(#${id})` });
}

// The place of the pointer in the units of the drawing.
function pointer(svg, event) {
  const box = svg.getBoundingClientRect();
  const unit = svg.viewBox.baseVal.width / box.width;
  return [(event.clientX - box.left) * unit, (event.clientY - box.top) * unit];
}

// Hovering tells, dragging zooms, a double click goes back. `part` holds the rectangle, its scales and its clip.
function makeLive(svg, part, figure) {
  const zoom = (to) => {
    figure.zoomed = to;
    figure.redraw();
  };
  const { left, top, width, height } = part.area;
  const cover = add(svg, "rect", { class: "area", x: left, y: top, width, height, fill: "transparent" });
  const inside = ([x, y]) => [Math.min(Math.max(x, left), left + width), Math.min(Math.max(y, top), top + height)];
  let start = null;
  let frame = null;
  cover.addEventListener("pointerdown", (event) => {
    start = inside(pointer(svg, event));
    cover.setPointerCapture(event.pointerId);
    frame = add(svg, "rect", { fill: "var(--soft)", "fill-opacity": 0.18, width: 0, height: 0 });
  });
  cover.addEventListener("pointermove", (event) => {
    const at = inside(pointer(svg, event));
    figure.hover(at, part);
    if (!start) return;
    const [x, y] = [0, 1].map((i) => Math.min(start[i], at[i]));
    const [w, h] = [0, 1].map((i) => Math.abs(start[i] - at[i]));
    for (const [key, value] of Object.entries({ x, y, width: w, height: h })) frame.setAttribute(key, value);
  });
  cover.addEventListener("pointerup", (event) => {
    if (!start) return;
    const [from, to] = [start, inside(pointer(svg, event))];
    start = null;
    frame.remove();
    if (Math.abs(from[0] - to[0]) > 6 && Math.abs(from[1] - to[1]) > 6) {
      zoom([rangeOf(part.x, from[0], to[0]), rangeOf(part.y, from[1], to[1])]);
    }
  });
  cover.addEventListener("pointerleave", () => figure.hover(null, part));
  cover.addEventListener("dblclick", () => zoom(null));
}

// Two pixels as the ends of a range.
function rangeOf(scale, a, b) {
  return [scale.back(a), scale.back(b)].sort((p, q) => p - q);
}

// The drawing as a file of its own: on white paper, with colours instead of variables.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  copy.setAttribute("xmlns", SVG);
  const { width, height } = svg.viewBox.baseVal;
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.querySelectorAll(".area, .cross").forEach((element) => element.remove());
  const paper = document.createElementNS(SVG, "rect");
  for (const [key, value] of Object.entries({ width, height, fill: "var(--paper)" })) paper.setAttribute(key, value);
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy).replace(/var\(--([a-z]+)\)/g, (_, name) => ON_PAPER[name]);
}

function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function saveSvg(svg, name) {
  download(`${name}.svg`, new Blob([standalone(svg)], { type: "image/svg+xml" }));
}

// Twice the size on the screen: enough for print.
function savePng(svg, name) {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(`${name}.png`, blob));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(standalone(svg));
}
