"use strict";

// Figures are drawn already. Here values are read off them, and they are magnified, moved through frames and saved.

const SVG = "http://www.w3.org/2000/svg";
const POINT = /([ML])(-?[\d.]+) (-?[\d.]+)/g;
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function set(element, attributes) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function add(parent, name, attributes, text = "") {
  const element = set(document.createElementNS(SVG, name), attributes);
  element.textContent = text;
  return parent.appendChild(element);
}

// A number for people: five digits at most, and none below what it is known to.
function shown(value, known = 0) {
  if (!Number.isFinite(value)) return "–";
  const unit = known > 0 ? 10 ** Math.ceil(Math.log10(known)) : 0;
  if (unit) value = Math.round(value / unit) * unit;
  const [mantissa, exponent] = value.toExponential(4).split("e").map(Number);
  if (exponent >= -3 && exponent < 5) return String(Number(value.toPrecision(5))).replace("-", "−");
  const power = "10" + String(exponent).replace("-", "⁻").replace(/\d/g, (digit) => RAISED[digit]);
  return mantissa === 1 ? power : `${String(mantissa).replace("-", "−")} × ${power}`;
}

// Multiples of 1, 2 or 5 times a power of ten between two ends; powers of ten along a logarithmic axis, if there are two.
function roundNumbers([lo, hi], wanted, logarithmic) {
  const multiples = (lo, hi, step) => Array.from({ length: Math.floor(hi / step) - Math.ceil(lo / step) + 1 }, (_, i) => (Math.ceil(lo / step) + i) * step);
  const [first, last] = [lo, hi].map(Math.log10);
  const powers = logarithmic ? multiples(first, last, Math.ceil((last - first) / wanted)) : [];
  if (powers.length > 1) return powers.map((power) => 10 ** power);
  const rough = (hi - lo) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  return multiples(lo, hi, [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= 0.99 * rough));
}

function nearest(numbers, value) {
  return numbers.reduce((best, number, i) => (Math.abs(number - value) < Math.abs(numbers[best] - value) ? i : best), 0);
}

// Attributes of an element as it was drawn.
function drawn(element) {
  return (element.drawn ??= Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value])));
}

// The points of a path, of a dot, of a bar.
function pointsOf({ d, cx, cy, x, y, width }) {
  if (d) return [...d.matchAll(POINT)].map(([, , x, y]) => [+x, +y]);
  return [cx ? [+cx, +cy] : [+x + width / 2, +y]];
}

// Moves an element by what happens to pixels along both axes.
function move(element, [x, y]) {
  const was = drawn(element);
  const [left, top] = [x(+(was.cx ?? was.x)), y(+(was.cy ?? was.y))];
  if (was.d) set(element, { d: was.d.replace(POINT, (_, pen, a, b) => `${pen}${x(+a).toFixed(3)} ${y(+b).toFixed(3)}`) });
  else if (was.cx) set(element, { cx: left, cy: top });
  else if (was.width) set(element, { x: left, y: top, width: x(+was.x + +was.width) - left, height: y(+was.y + +was.height) - top });
  else if (was.class === "rule") set(element, { y: top });
}

// A rectangle with axes: between its pixels as drawn, as seen now, and numbers.
class View {
  constructor(group) {
    const [left, top, width, height, x0, x1, y0, y1, logarithmic] = group.dataset.view.split(" ").map(Number);
    Object.assign(this, { group, left, top, width, height });
    this.sides = [[left, left + width], [top + height, top]];
    this.logarithmic = [false, logarithmic === 1];
    this.ends = [[x0, x1], [y0, y1]];
    this.now = this.ends;
    this.inside = group.querySelector(".inside");
    this.image = group.querySelector("image[data-array]");
    this.names = [group.dataset.x, group.dataset.y];
  }

  // The pixel of a number, if these are the ends of the axis.
  pixel(axis, value, ends = this.now) {
    const [[from, to], log] = [this.sides[axis], this.logarithmic[axis] ? Math.log : Number];
    return from + ((log(value) - log(ends[axis][0])) / (log(ends[axis][1]) - log(ends[axis][0]))) * (to - from);
  }

  number(axis, pixel, ends = this.now) {
    const [[from, to], [lo, hi]] = [this.sides[axis], ends[axis]];
    const share = (pixel - from) / (to - from);
    return this.logarithmic[axis] ? lo * (hi / lo) ** share : lo + share * (hi - lo);
  }

  // The number of a pixel as drawn, to the digits that a thousandth of a pixel allows.
  read(axis, pixel) {
    const value = this.number(axis, pixel, this.ends);
    return shown(value, Math.abs(this.number(axis, pixel + 0.001, this.ends) - value));
  }

  // The nearest pixel of the rectangle.
  within(axis, pixel) {
    const [lo, hi] = [...this.sides[axis]].sort((a, b) => a - b);
    return Math.min(Math.max(pixel, lo), hi);
  }

  has(place) {
    return place.every((pixel, axis) => this.within(axis, pixel) === pixel);
  }

  // Shows what is between these ends.
  zoom(ends) {
    this.now = ends ?? this.ends;
    this.maps = [0, 1].map((axis) => {
      const [a, b] = this.now[axis].map((end) => this.pixel(axis, end, this.ends));
      const [from, to] = this.sides[axis];
      return (pixel) => from + ((pixel - a) / (b - a)) * (to - from);
    });
    this.inside.querySelectorAll("path, circle, rect, image, text").forEach((element) => move(element, this.maps));
    for (const mark of this.group.querySelectorAll(".mark")) {
      const x = this.maps[0](+drawn(mark).x);
      set(mark, { x, display: this.has([x, this.top]) ? "inline" : "none" });
    }
    this.drawTicks(ends);
  }

  drawTicks(zoomed) {
    const ticks = this.group.querySelector(".ticks");
    ticks.drawn ??= [...ticks.childNodes];
    ticks.replaceChildren(...(zoomed ? [] : ticks.drawn));
    if (!zoomed) return;
    const { left, top, width, height } = this;
    const draw = (axis, wanted, place) => {
      const numbers = roundNumbers(this.now[axis], Math.max(2, wanted), this.logarithmic[axis]);
      for (const tick of numbers.filter((tick) => this.names[axis] !== "step" || Number.isInteger(tick))) {
        const { long, short, ...text } = place(this.pixel(axis, tick));
        if (!this.image) add(ticks, "path", { d: long, stroke: "#eceef1" });
        add(ticks, "path", { d: short, stroke: "#5c6470" });
        add(ticks, "text", { ...text, "font-size": 11, fill: "#5c6470" }, shown(tick));
      }
    };
    const bottom = top + height;
    draw(0, width / 80, (x) => ({ long: `M${x} ${top}V${bottom}`, short: `M${x} ${bottom}v4`, x, y: bottom + 17, "text-anchor": "middle" }));
    draw(1, height / 44, (y) => ({ long: `M${left} ${y}h${width}`, short: `M${left} ${y}h-4`, x: left - 8, y: y + 4, "text-anchor": "end" }));
  }

  // Series that are seen, each with its points as drawn and the widths of its band.
  series() {
    return [...this.group.querySelectorAll('.series:not([display="none"])')].map((element) => {
      const shapes = [...element.querySelectorAll("path:not(.band), circle, rect")].map(drawn);
      const points = shapes.flatMap(pointsOf);
      const band = [...element.querySelectorAll(".band")].flatMap((band) => pointsOf(drawn(band)).map(([, y]) => y));
      return { name: element.dataset.name || this.names[1], points, band, colour: shapes[0]?.stroke ?? shapes[0]?.fill };
    });
  }
}

// A figure of the page: its views, what is hidden in it, and the tools below it.
class Figure {
  constructor(element, page, before) {
    Object.assign(this, { element, page, zoomed: before?.zoomed ?? null, hidden: before?.hidden ?? new Set() });
    this.title = element.dataset.title;
    this.svg = element.querySelector("svg");
    this.views = [...element.querySelectorAll(".view")].map((group) => new View(group));
    this.frames = page.data.axes[element.dataset.frames];
    this.cross = add(this.svg, "g", { class: "cross" });
    this.addTools();
    this.listen();
    this.views.forEach((view) => view.zoom(this.zoomed));
    if (this.frames) this.show();
    this.hide();
  }

  addTools() {
    const make = (parent, name, about = {}) => parent.appendChild(Object.assign(document.createElement(name), about));
    const row = make(this.element, "div", { className: "tools" });
    this.svg.after(row);
    if (this.frames) {
      const label = make(row, "label");
      this.place = make(label, "span");
      this.slider = make(label, "input", { type: "range", min: 0, max: this.frames.nodes.length - 1 });
      this.slider.addEventListener("input", () => {
        const value = this.frames.nodes[this.slider.value];
        this.page.move(this.frames.name, value);
        history.replaceState(null, "", `#${this.frames.name}=${value}`);
      });
    }
    this.output = make(row, "output");
    for (const kind of ["SVG", "PNG"]) make(row, "button", { type: "button", textContent: `Save ${kind}`, onclick: () => this.save(kind) });
  }

  listen() {
    let [start, view, frame] = [];
    const on = (event, act) => this.svg.addEventListener(event, act);
    const zoom = (to) => {
      this.zoomed = to;
      this.views.forEach((view) => view.zoom(to));
    };
    const at = (event) => {
      const box = this.svg.getBoundingClientRect();
      const unit = this.svg.viewBox.baseVal.width / box.width;
      return [(event.clientX - box.left) * unit, (event.clientY - box.top) * unit];
    };
    on("pointerdown", (event) => {
      view = this.views.find((view) => view.has(at(event)));
      start = view && at(event);
      if (!view) return;
      this.svg.setPointerCapture(event.pointerId);
      frame = add(this.svg, "path", { class: "cross", fill: "#5c6470", "fill-opacity": 0.18 });
    });
    on("pointermove", (event) => {
      const place = at(event);
      this.read(place);
      if (start) frame.setAttribute("d", `M${start}H${place[0]}V${place[1]}H${start[0]}Z`);
    });
    on("pointerup", (event) => {
      if (!start) return;
      const sides = [0, 1].map((axis) => [start[axis], at(event)[axis]].map((pixel) => view.within(axis, pixel)));
      start = frame.remove();
      if (sides.some(([a, b]) => Math.abs(a - b) < 6)) return;
      zoom(sides.map((side, axis) => side.map((pixel) => view.number(axis, pixel)).sort((a, b) => a - b)));
    });
    on("pointerleave", () => this.read(null));
    on("dblclick", () => zoom(null));
    on("click", ({ target }) => {
      const name = target.closest(".entry")?.dataset.name;
      if (name && !this.hidden.delete(name)) this.hidden.add(name);
      this.hide();
    });
  }

  hide() {
    const hidden = (element) => this.hidden.has(element.dataset.name);
    this.element.querySelectorAll(".entry").forEach((entry) => set(entry, { opacity: hidden(entry) ? 0.35 : 1 }));
    this.element.querySelectorAll(".series").forEach((series) => set(series, { display: hidden(series) ? "none" : "inline" }));
  }

  // Says what is at a pixel, and marks it.
  read(place) {
    this.cross.replaceChildren();
    const view = place && this.views.find((view) => view.has(place));
    this.output.textContent = view ? (view.image ? this.readMaps(view, place) : this.readLines(view, place)) : "";
  }

  readMaps(view, place) {
    const axes = this.page.array(view.image.dataset.array).axes.slice(-2).reverse();
    const [column, row] = axes.map(({ nodes }, axis) => nearest(nodes, view.number(axis, place[axis])));
    const [x, y] = [axes[0].nodes[column], axes[1].nodes[row]];
    for (const view of this.views) {
      const d = `M${view.pixel(0, x)} ${view.top}v${view.height}M${view.left} ${view.pixel(1, y)}h${view.width}`;
      add(this.cross, "path", { d, stroke: "#ffffff", "stroke-width": 0.8, "stroke-opacity": 0.8 });
    }
    const frame = this.frames ? this.page.frame(this.frames) : 0;
    const at = (frame * axes[1].nodes.length + row) * axes[0].nodes.length + column;
    const values = this.views.map(({ image, group }) => `${group.dataset.title} ${shown(this.page.array(image.dataset.array).values[at])}`);
    return `${view.names[0]} ${shown(x)}, ${view.names[1]} ${shown(y)}: ${values.join("; ")}`;
  }

  readLines(view, place) {
    const scattered = view.group.matches(".scattered");
    const distance = ([x, y]) => Math.hypot(view.maps[0](x) - place[0], scattered ? view.maps[1](y) - place[1] : 0);
    let found = view.series().filter(({ points }) => points.length).map((series) => {
      const i = series.points.reduce((best, point, i) => (distance(point) < distance(series.points[best]) ? i : best), 0);
      return { ...series, at: series.points[i], wide: series.band.length ? (series.band.at(-1 - i) - series.band[i]) / 2 : 0 };
    });
    if (scattered) found = found.sort((a, b) => distance(a.at) - distance(b.at)).slice(0, 1);
    if (!found.length) return "";
    const [x] = found[0].at;
    add(this.cross, "path", { d: `M${view.maps[0](x)} ${view.top}v${view.height}`, stroke: "#5c6470", "stroke-width": 0.8 });
    const values = found.map(({ name, at, wide, colour }) => {
      const [cx, cy] = at.map((pixel, axis) => view.maps[axis](pixel));
      if (view.has([cx, cy])) add(this.cross, "circle", { cx, cy, r: 3.5, fill: colour, stroke: "#ffffff" });
      const half = view.number(1, at[1] - wide, view.ends) - view.number(1, at[1], view.ends);
      return `${scattered ? view.names[1] : name} ${view.read(1, at[1])}${wide ? ` ± ${shown(half, half / 1000)}` : ""}`;
    });
    return `${view.names[0]} ${view.read(0, x)}: ${values.join(", ")}`;
  }

  // The frame where the slider stands; drawn is the last one.
  show() {
    const [frame, count] = [this.page.frame(this.frames), this.frames.nodes.length];
    this.slider.value = frame;
    this.place.textContent = `${this.frames.name} = ${shown(this.frames.nodes[frame])}`;
    for (const view of this.views) {
      if (view.image) {
        const was = drawn(view.image);
        was.last ??= +was.y;
        was.y = was.last + (count - 1 - frame) * (was.height / count);
      }
      view.group.querySelectorAll(".series[data-array]").forEach((series) => {
        const { axes, values } = this.page.array(series.dataset.array);
        const heights = values.subarray(frame * axes[1].nodes.length);
        const pen = (i) => (Number.isFinite(heights[i - 1]) ? "L" : "M");
        const point = (x, i) => `${pen(i)}${view.pixel(0, x, view.ends).toFixed(3)} ${view.pixel(1, heights[i], view.ends).toFixed(3)}`;
        const line = axes[1].nodes.map((x, i) => (Number.isFinite(heights[i]) ? point(x, i) : ""));
        drawn(series.querySelector("path")).d = line.join("") || "M0 0";
      });
      view.zoom(this.zoomed);
    }
  }

  // The figure as it is seen, on white paper; twice the size on the screen is enough for print.
  save(kind) {
    const copy = this.svg.cloneNode(true);
    copy.querySelectorAll('.cross, [display="none"]').forEach((element) => element.remove());
    const text = new XMLSerializer().serializeToString(copy);
    const give = (blob) => {
      const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob) });
      link.download = `${this.title.replace(/[^\w-]+/g, "-")}.${kind.toLowerCase()}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    };
    if (kind === "SVG") return give(new Blob([text], { type: "image/svg+xml" }));
    const image = new Image();
    image.onload = () => {
      const canvas = Object.assign(document.createElement("canvas"), { width: 2 * image.width, height: 2 * image.height });
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(give);
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  }
}

// All figures, and where the sliders of their coordinates stand. Those that were there before stay magnified and hidden as they were.
class Page {
  constructor(data, before) {
    Object.assign(this, { data, unpacked: new Map(), places: new Map() });
    const same = (title) => before?.figures.find((figure) => figure.title === title);
    const elements = [...document.querySelectorAll("figure.plot")];
    this.figures = elements.map((element) => new Figure(element, this, same(element.dataset.title)));
  }

  // An array, or of two names the first minus the second.
  array(names) {
    if (!this.unpacked.has(names)) {
      const [{ axes, values }, other] = names.split(" ").map((name) => this.unpack(this.data.arrays[name]));
      this.unpacked.set(names, { axes, values: other ? values.map((value, i) => value - other.values[i]) : values });
    }
    return this.unpacked.get(names);
  }

  // Numbers in 16 bits between two ends; the greatest number stands for a hole.
  unpack({ axes, lo, width, data }) {
    const bytes = new DataView(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)).buffer);
    const number = (level) => (level === 65535 ? NaN : lo + (width * level) / 65534);
    const values = Float64Array.from({ length: bytes.byteLength / 2 }, (_, i) => number(bytes.getUint16(2 * i, true)));
    return { axes: axes.map((axis) => this.data.axes[axis]), values };
  }

  // The node of an axis where its slider stands; at first the last one.
  frame({ name, nodes }) {
    return this.places.has(name) ? nearest(nodes, this.places.get(name)) : nodes.length - 1;
  }

  move(name, value) {
    this.places.set(name, value);
    this.figures.filter((figure) => figure.frames?.name === name).forEach((figure) => figure.show());
  }

  // `#t=0.5` in the address: a link to a time.
  follow(address) {
    const [, name, value] = /^#([A-Za-z_]\w*)=([-+.\deE]+)$/.exec(address) ?? [];
    if (name && Number.isFinite(Number(value))) this.move(name, Number(value));
  }
}
