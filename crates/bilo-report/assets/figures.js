// The page: figures in their places, and sliders that move all figures of the same coordinate.

const KINDS = { lines: LinesFigure, maps: MapsFigure };

class Page {
  constructor(data) {
    this.data = data;
    this.arrays = new Map();
    this.figures = [];
    // Where sliders stand: the value of each coordinate.
    this.places = new Map();
    const { values, differences } = data.colours;
    this.colours = { values: bytesOf(values), differences: bytesOf(differences) };
  }

  array(name) {
    if (!this.arrays.has(name)) this.arrays.set(name, unpacked(this.data.arrays[name]));
    return this.arrays.get(name);
  }

  // The node of an axis where its slider stands; at first the last one.
  frame(axis) {
    if (!axis) return 0;
    const place = this.places.get(axis.name);
    return place === undefined ? axis.nodes.length - 1 : nearest(axis.nodes, place);
  }

  move(name, value) {
    this.places.set(name, value);
    this.figures.filter((figure) => figure.moving && figure.spec.frames.name === name).forEach((figure) => figure.redraw());
  }

  // `#t=0.5` in the address: a link to a time.
  follow(address) {
    const [, name, value] = /^#([A-Za-z_]\w*)=([-+.\deE]+)$/.exec(address) ?? [];
    if (name && Number.isFinite(Number(value))) this.move(name, Number(value));
  }

  place(element) {
    const spec = this.data.figures[Number(element.dataset.figure)];
    const figure = new KINDS[spec.kind](spec, this);
    const tools = toolsOf(figure, this);
    element.prepend(tools.row);
    let svg = null;
    figure.say = (text) => (tools.output.textContent = text);
    figure.redraw = () => {
      const fresh = figure.draw(Math.max(300, Math.round(element.clientWidth || 720)));
      svg?.remove();
      svg = fresh;
      figure.svg = svg;
      element.prepend(svg);
      element.dataset.frame = this.frame(spec.frames);
      tools.update();
    };
    this.figures.push(figure);
    figure.redraw();
  }

  placeAll() {
    document.querySelectorAll("figure[data-figure]").forEach((element) => this.place(element));
  }

  redraw() {
    this.figures.forEach((figure) => figure.redraw());
  }

  // The same figures with other numbers: what is hidden stays hidden, what is zoomed stays zoomed.
  renew(data) {
    this.data = data;
    this.arrays.clear();
    this.figures.forEach((figure, i) => (figure.spec = data.figures[i]));
    this.redraw();
  }
}

// Figures are as wide as the window lets them be.
function redrawWhenResized(redraw) {
  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(redraw, 100);
  });
}

// The line under a figure: what the pointer is at, a slider if it moves, and ways to save it.
function toolsOf(figure, page) {
  const row = document.createElement("div");
  row.className = "tools";
  const slider = figure.moving ? sliderOf(figure.spec.frames, page) : null;
  if (slider) row.append(slider.label);
  const output = document.createElement("output");
  row.append(output);
  const name = figure.spec.title.replace(/[^\w-]+/g, "-");
  for (const [text, save] of [["Save SVG", saveSvg], ["Save PNG", savePng]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => save(figure.svg, name));
    row.append(button);
  }
  return { row, output, update: () => slider?.update() };
}

function sliderOf(axis, page) {
  const label = document.createElement("label");
  const text = document.createElement("span");
  const input = document.createElement("input");
  Object.assign(input, { type: "range", min: 0, max: axis.nodes.length - 1, step: 1 });
  label.append(text, input);
  input.addEventListener("input", () => {
    const value = axis.nodes[Number(input.value)];
    page.move(axis.name, value);
    history.replaceState(null, "", `#${axis.name}=${value}`);
  });
  const update = () => {
    input.value = page.frame(axis);
    text.textContent = `${axis.name} = ${shown(axis.nodes[page.frame(axis)])}`;
  };
  return { label, update };
}
